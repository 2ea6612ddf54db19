import { err, ok, type Result } from 'neverthrow';
import { type Address, nameOf } from './database-url.ts';
import { connectError, failureOf, type OpenPostgresError, type ServerFailure } from './errors.ts';
import { type Session, type SessionOptions, startSession } from './session.ts';
import { throwAfterTimeout } from './throw-after-timeout.ts';

/** Connects to the leader, and tries the failed server last. Throws when no server can be used. */
export type Connect = (failed: Address | undefined) => Promise<Session>;

const refusalOf = async (session: Session): Promise<ServerFailure | undefined> => {
  const text = `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on',
    current_setting('server_encoding')`;
  const [[isReadOnly, encoding] = []] = await session.query({ text });
  const name = nameOf(session.address);
  if (isReadOnly !== 'f') {
    return { kind: 'standby-only', description: `${name} is a standby or read-only` };
  }
  return encoding === 'UTF8'
    ? undefined
    : { kind: 'encoding-unsupported', description: `${name} has the encoding ${encoding}` };
};

const tryAddress = async (
  address: Address,
  options: SessionOptions,
): Promise<Result<Session, ServerFailure>> => {
  let session: Session | undefined;
  try {
    session = await startSession(address, options);
    const refusal = await throwAfterTimeout(options.connectTimeoutMs, refusalOf(session));
    if (refusal === undefined) return ok(session);
    // Not awaited: meanwhile, the next server is tried.
    void session.close();
    return err(refusal);
  } catch (thrown) {
    session?.destroy();
    return err(failureOf(address, thrown));
  }
};

/**
 * Connects to the first server that accepts writes.
 *
 * @param last - the server that failed most recently, which is tried last
 */
export const connectLeader = async (
  options: SessionOptions,
  last?: Address,
): Promise<Result<Session, OpenPostgresError>> => {
  const failures: ServerFailure[] = [];
  const others = options.addresses.filter((address) => address !== last);
  for (const address of last === undefined ? others : [...others, last]) {
    const tried = await tryAddress(address, options);
    if (tried.isOk()) return ok(tried.value);
    failures.push(tried.error);
  }
  return err(connectError(options, failures));
};
