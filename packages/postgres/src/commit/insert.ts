import { hash } from 'node:crypto';
import type { Row } from '../open/columns.ts';
import { sqlStateOf } from '../open/errors.ts';
import type { Query, Session } from '../open/session.ts';
import { failureOf } from './failures.ts';

/** Creates the function that runs inserts, prepared until one failed because of that. */
export function createInsert() {
  let isPrepared = true;
  return async (session: Session, statement: Query): Promise<readonly Row[]> => {
    if (!isPrepared) return session.query(statement);
    try {
      // Derived from the text: pooled connections can have a statement for another table.
      const name = `plantstore_${hash('sha256', statement.text).slice(0, 32)}`;
      return await session.query({ ...statement, name });
    } catch (thrown) {
      if (!mayBeCausedByPreparation(thrown)) throw thrown;
      isPrepared = false;
      return session.query(statement);
    }
  };
}

/**
 * A pooler in transaction mode distributes the statements of a client over several server
 * connections, on which the prepared statement may not exist (26000) or already exist (42P05).
 * Other poolers reject it with 08P01 or their own code. 0A000: a column type changed.
 */
function mayBeCausedByPreparation(thrown: unknown): boolean {
  return /^(26000|08P01)$/.test(sqlStateOf(thrown) ?? '') || failureOf(thrown) === 'all';
}
