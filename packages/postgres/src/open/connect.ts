import { err, ok, type Result } from 'neverthrow';
import {
  type Address,
  type DatabaseUrl,
  maxTimerMs,
  nameOf,
  readDatabaseUrl,
} from './database-url.ts';
import {
  connectError,
  failureOf,
  isLoginRefused,
  type OpenPostgresError,
  type ServerFailure,
} from './errors.ts';
import { readPassFile } from './pass-file.ts';
import { type Session, type SessionOptions, startSession } from './session.ts';

/**
 * Creates the function that connects to the servers of a URL. It reads the URL for each connection,
 * because its files can change, as in libpq. A refused login pauses logins with the same password.
 */
export function createConnect(options: ConnectOptions) {
  const env = { ...process.env };
  const refusals = new Map<string, Refusal>();
  let isFirst = true;

  const tryAddress = async (address: Address, url: SessionOptions): Promise<Tried> => {
    const name = nameOf(address);
    const { password } = url;
    const refusal = refusals.get(name);
    const isPaused = refusal?.password === password && performance.now() < (refusal?.endsAt ?? 0);
    if (refusal !== undefined && isPaused) return refusal;
    let session: Session | undefined;
    try {
      session = await startSession(address, url);
      refusals.delete(name);
      const [state = []] = await session.query({ text: serverState }, url.loginTimeoutMs);
      const [encoding, isReadOnly, isStandby, hasTable] = state;
      const isUtf8 = encoding === 'UTF8';
      if (isUtf8 && isReadOnly === 'off') return { session };
      const [reason, description] = !isUtf8
        ? (['encoding-unsupported', `${name} has the encoding ${encoding}`] as const)
        : isStandby === 't'
          ? (['standby-only', `${name} is a standby`] as const)
          : (['read-only', `${name} is read-only`] as const);
      const failure = { reason, description };
      if (isUtf8 && options.readsOnly === true && hasTable === 't') return { session, failure };
      // Not awaited: meanwhile, the next server is tried.
      void session.close();
      return { failure };
    } catch (thrown) {
      session?.destroy();
      const failure = failureOf(address, thrown);
      if (isLoginRefused(failure)) {
        const pauseMs = nextPauseMs(refusal?.pauseMs);
        const endsAt = performance.now() + pauseMs;
        refusals.set(name, { failure, password, pauseMs, endsAt });
      }
      return { failure };
    }
  };

  /** Connects to the first server that can be used, and tries the one that failed most recently last. */
  return async (failed?: Address): Promise<Result<Connected, NotConnected>> => {
    const read = readDatabaseUrl(options.url, env);
    if (read.isErr()) return err({ error: read.error, isRefused: false });
    const { addresses, connectTimeoutMs: ofUrl } = read.value;
    const connectTimeoutMs = Math.min(options.connectTimeoutMs ?? ofUrl, maxTimerMs);
    // Only the first one waits for a server that resumes: others are retried, maybe elsewhere.
    const waits = isFirst && options.connectTimeoutMs === undefined;
    isFirst = false;
    const loginTimeoutMs = waits ? read.value.loginTimeoutMs : connectTimeoutMs;
    const { statementTimeoutMs } = options;
    const base = { ...read.value, connectTimeoutMs, loginTimeoutMs, statementTimeoutMs };
    let url = base;
    const failures: ServerFailure[] = [];
    let readable: Connected | undefined;
    const isFailed = (one: Address) =>
      Number(failed !== undefined && nameOf(one) === nameOf(failed));
    for (const address of addresses.toSorted((one, other) => isFailed(one) - isFailed(other))) {
      if (base.password === undefined) {
        const password = await readPassFile(address, base);
        url = { ...base, password, passwordSource: 'the password file' };
      }
      const { session, failure } = await tryAddress(address, url);
      if (session !== undefined && failure === undefined) {
        void readable?.session.close();
        return ok({ session, url });
      }
      if (failure !== undefined) failures.push(failure);
      if (readable !== undefined) void session?.close();
      else if (session !== undefined) readable = { session, url };
    }
    if (readable !== undefined) return ok(readable);
    return err({ error: connectError(url, failures), isRefused: failures.every(isLoginRefused) });
  };
}

export type Connect = ReturnType<typeof createConnect>;
type Connected = { readonly session: Session; readonly url: DatabaseUrl };
/** An error, and whether every server refuses the login. */
type NotConnected = { readonly error: OpenPostgresError; readonly isRefused: boolean };

type ConnectOptions = {
  readonly url: string;
  readonly statementTimeoutMs: number;
  /** Default: as in the URL. */
  readonly connectTimeoutMs?: number | undefined;
  /** Whether a read-only server with the table is used if there is no other. Default: `false`. */
  readonly readsOnly?: boolean;
};

/** A connection, the reason why it or the server cannot be used for creates, or both. */
type Tried = { readonly session?: Session; readonly failure?: ServerFailure };
type Refusal = Tried & { password: string | undefined; pauseMs: number; endsAt: number };

/** Returns the pause after another failure, in milliseconds. */
export function nextPauseMs(pauseMs = 500): number {
  return Math.min(2 * pauseMs, 30_000);
}

// A standby is read-only, too.
const serverState = `SELECT current_setting('server_encoding'), current_setting('transaction_read_only'),
  pg_is_in_recovery(), to_regclass('plants') IS NOT NULL`;
