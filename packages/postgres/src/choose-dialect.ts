import type { Session } from './session.ts';
import type { Dialect } from './statements.ts';

const findMessageRight = `SELECT bool_or(has_function_privilege(oid, 'EXECUTE'))
  FROM pg_proc WHERE proname = 'pg_logical_emit_message'`;

/**
 * Chooses how an engine is spoken to, by what it calls itself in `version()` and what it has.
 * Throws what the driver throws.
 */
export const chooseDialect = async (
  session: Session,
  version: string,
  timeoutMs: number,
): Promise<Dialect> => {
  if (version.startsWith('CockroachDB')) return 'rows';
  if (version.includes('-YB-')) return 'arrays';
  const [right] = await session.query({ text: findMessageRight }, timeoutMs);
  return right?.[0] === 't' ? 'postgresql' : 'arrays';
};
