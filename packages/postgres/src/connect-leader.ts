import { err, ok, type Result } from 'neverthrow';
import { type Address, nameOf } from './database-url.ts';
import { describeThrown } from './server-failure.ts';
import { type Session, type SessionOptions, startSession } from './session.ts';
import { withTimeout } from './with-timeout.ts';

/** Reason why a server could not be used. */
export type ConnectFailure = { readonly address: Address } & (
  | { readonly kind: 'thrown'; readonly thrown: unknown }
  | { readonly kind: 'standby' }
  | { readonly kind: 'encoding'; readonly encoding: string }
);

/** Connects to the leader, and tries the failed server last. Throws when no server can be used. */
export type Connect = (failed: Address | undefined) => Promise<Session>;

/** Describes in a few words why a server could not be used. */
export const describeFailure = (failure: ConnectFailure): string => {
  const name = nameOf(failure.address);
  switch (failure.kind) {
    case 'thrown':
      return `${name}: ${describeThrown(failure.thrown)}`;
    case 'standby':
      return `${name} is a standby or read-only`;
    case 'encoding':
      return `${name} has the encoding ${failure.encoding}`;
  }
};

const refusalOf = async (session: Session): Promise<ConnectFailure | undefined> => {
  const text = `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on',
    current_setting('server_encoding')`;
  const [row] = await session.query({ text });
  const { address } = session;
  if (row?.[0] !== 'f') return { kind: 'standby', address };
  return row[1] === 'UTF8' ? undefined : { kind: 'encoding', address, encoding: row[1] ?? '' };
};

const tryAddress = async (
  address: Address,
  options: SessionOptions,
): Promise<Result<Session, ConnectFailure>> => {
  let session: Session | undefined;
  try {
    session = await startSession(address, options);
    const refusal = await withTimeout(options.connectTimeoutMs, refusalOf(session));
    if (refusal === undefined) return ok(session);
    await session.close();
    return err(refusal);
  } catch (thrown) {
    session?.destroy();
    return err({ kind: 'thrown', address, thrown });
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
): Promise<Result<Session, readonly ConnectFailure[]>> => {
  const failures: ConnectFailure[] = [];
  const others = options.addresses.filter((address) => address !== last);
  for (const address of last === undefined ? others : [...others, last]) {
    const tried = await tryAddress(address, options);
    if (tried.isOk()) return ok(tried.value);
    failures.push(tried.error);
  }
  return err(failures);
};
