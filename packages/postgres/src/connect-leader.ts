import { err, ok, type Result } from 'neverthrow';
import { type Address, type DatabaseUrl, nameOf } from './database-url.ts';
import { describeThrown } from './server-failure.ts';
import { type Session, startSession } from './session.ts';

/** Reason why a server could not be used. */
export type ConnectFailure = { readonly address: Address } & (
  | { readonly kind: 'thrown'; readonly thrown: unknown }
  | { readonly kind: 'standby' }
  | { readonly kind: 'encoding'; readonly encoding: string }
);

/** The servers, and the timeout of a connection. */
export type Servers = {
  readonly url: DatabaseUrl;
  /** Timeout of connecting and logging in to one server, in milliseconds. */
  readonly connectTimeoutMs: number;
};

const defaultConnectTimeoutMs = 2_000;

/** Maximum delay of a timer in Node.js, in milliseconds. */
export const maxTimerMs = 2 ** 31 - 1;

/** Returns the servers of a URL. The timeout of the caller takes precedence over that of the URL. Default: 2 seconds. */
export const serversOf = (url: DatabaseUrl, connectTimeoutMs?: number): Servers => {
  const timeoutMs = connectTimeoutMs ?? url.connectTimeoutMs ?? defaultConnectTimeoutMs;
  return { url, connectTimeoutMs: Math.min(timeoutMs, maxTimerMs) };
};

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

const refusalOf = async (
  session: Session,
  timeoutMs: number,
): Promise<ConnectFailure | undefined> => {
  const text = `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on',
    current_setting('server_encoding')`;
  const [row] = await session.query({ text }, timeoutMs);
  const { address } = session;
  if (row?.[0] !== 'f') return { kind: 'standby', address };
  return row[1] === 'UTF8' ? undefined : { kind: 'encoding', address, encoding: row[1] ?? '' };
};

const tryAddress = async (
  address: Address,
  { url, connectTimeoutMs }: Servers,
): Promise<Result<Session, ConnectFailure>> => {
  let session: Session | undefined;
  try {
    session = await startSession(address, url, connectTimeoutMs);
    const refusal = await refusalOf(session, connectTimeoutMs);
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
  servers: Servers,
  last?: Address,
): Promise<Result<Session, readonly ConnectFailure[]>> => {
  const failures: ConnectFailure[] = [];
  const others = servers.url.addresses.filter((address) => address !== last);
  for (const address of last === undefined ? others : [...others, last]) {
    const tried = await tryAddress(address, servers);
    if (tried.isOk()) return ok(tried.value);
    failures.push(tried.error);
  }
  return err(failures);
};
