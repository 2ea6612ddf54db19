import { once } from 'node:events';
import { Socket } from 'node:net';
import pg from 'pg';
import type { Row } from './columns.ts';
import { type Address, type DatabaseUrl, nameOf } from './database-url.ts';
import { type BackendKey, cancelStatement, guardParsing, requireChannelBinding } from './driver.ts';
import { isTlsRefused, sqlStateOf } from './errors.ts';

/** Connects to a server and logs in. Throws the exceptions of the driver. */
export async function startSession(address: Address, options: SessionOptions): Promise<Session> {
  const unencrypted = { ...options, tls: false } as const;
  // PostgreSQL does not support TLS on Unix-domain sockets.
  if (address.host.startsWith('/')) return Session.start(address, unencrypted);
  return Session.start(address, options).catch(async (thrown: unknown) => {
    if (!options.isTlsOptional || !isTlsRefused(thrown)) throw thrown;
    return Session.start(address, unencrypted);
  });
}

/** A statement and its parameters. With a name, it is prepared on first use. */
export type Query = { text: string; values?: readonly unknown[]; name?: string };

/** The URL, and the timeouts of connecting, the login and each statement, in milliseconds. */
export type SessionOptions = DatabaseUrl & {
  readonly connectTimeoutMs: number;
  readonly loginTimeoutMs: number;
  readonly statementTimeoutMs: number;
};

/**
 * A connection to a server. Its methods throw the exceptions of the driver. It is:
 *
 * - idle, after the login, and after each statement that commits or fails
 * - running, while a statement has no response: after a timeout, `abandon` it
 * - unusable, for ever: closed, or in a transaction that a pooler has opened
 */
export class Session {
  readonly server: string;
  readonly #address: Address;
  readonly #options: SessionOptions;
  readonly #socket = new Socket();
  readonly #client: pg.Client;
  #key: BackendKey | undefined;
  #isRunning = false;
  #isInDoubt = false;

  static async start(address: Address, options: SessionOptions): Promise<Session> {
    const session = new Session(address, options);
    await session.#logIn();
    return session;
  }

  private constructor(address: Address, options: SessionOptions) {
    this.server = nameOf(address);
    this.#address = address;
    this.#options = options;
    this.#client = createClient(address, options, this.#socket);
    this.#client.connection.on('backendKeyData', (key: BackendKey) => (this.#key = key));
    this.#client.on('notice', ({ routine }) => {
      // The server reports success for a commit whose wait for a standby was canceled.
      if (routine === 'SyncRepWaitForLSN') this.#isInDoubt = true;
    });
  }

  async #logIn(): Promise<void> {
    const { connectTimeoutMs, loginTimeoutMs, isTlsOptional } = this.#options;
    try {
      const loggedIn = this.#client.connect();
      const accepted = Promise.race([loggedIn, once(this.#socket, 'connect')]);
      await within(connectTimeoutMs, accepted, 'no connection');
      await within(loginTimeoutMs, loggedIn, 'the connection was accepted, but no response');
    } catch (thrown) {
      // A pooler may permit one connection, which is then free for the unencrypted one.
      if (isTlsOptional && isTlsRefused(thrown) && !this.#socket.closed)
        await within(closeTimeoutMs, once(this.#socket, 'close')).catch(() => {});
      this.abandon()?.();
      throw thrown;
    }
  }

  /** Whether the connection is open, as far as is known, and the session idle. */
  isUsable(): boolean {
    return !this.#socket.destroyed && this.#client.getTransactionStatus() === 'I';
  }

  /**
   * Runs one statement at a time. After an exception that the server did not report, abandon it.
   */
  async query(
    { values = [], ...statement }: Query,
    timeoutMs = this.#options.statementTimeoutMs,
  ): Promise<readonly Row[]> {
    // Only a statement in flight keeps the process alive, not an idle repository.
    this.#socket.ref();
    this.#isRunning = true;
    try {
      const rows = { ...statement, values: [...values], rowMode: 'array' } as const;
      const result = await within(timeoutMs, this.#client.query<Row[number][]>(rows));
      this.#isRunning = false;
      if (this.#isInDoubt) throw new Error('the commit may not have reached the standby');
      // In which nothing is committed.
      if (this.#client.getTransactionStatus() !== 'I')
        throw new Error('a pooler has opened a transaction and not committed it');
      return [result].flat().at(-1)?.rows ?? [];
    } catch (thrown) {
      // Without a response, the statement may still be running.
      if (sqlStateOf(thrown) !== undefined) this.#isRunning = false;
      throw thrown;
    } finally {
      this.#socket.unref();
    }
  }

  /** Reads the catalog: rows become objects with the names and types of their columns. */
  async read<T>(text: string, values: readonly unknown[] = [], timeoutMs?: number): Promise<T[]> {
    const json = `SELECT row_to_json(one)::text FROM (${text}) AS one`;
    const rows = await this.query({ text: json, values }, timeoutMs);
    return rows.map(([one]) => JSON.parse(one ?? '') as T);
  }

  /** Closes the connection now. Returns a function that cancels a statement without a response. */
  abandon(): (() => void) | undefined {
    this.#socket.destroy();
    const running = this.#isRunning ? this.#key : undefined;
    this.#isRunning = false;
    return running && (() => cancelStatement(this.#address, running));
  }

  /** Sends a Terminate message, and closes the connection, after a timeout without a response. */
  async close(): Promise<void> {
    this.#socket.ref();
    await within(closeTimeoutMs, this.#client.end()).catch(() => {});
    this.#socket.destroy();
  }
}

function createClient(address: Address, options: SessionOptions, socket: Socket): pg.Client {
  const client = new pg.Client({
    ...address,
    user: options.user,
    database: options.database,
    // Without one, the driver would read the password file itself, which is deprecated.
    password: options.password ?? '',
    application_name: options.applicationName,
    options: options.options,
    enableChannelBinding: options.requiresChannelBinding,
    ssl: options.tls,
    stream: () => socket,
    keepAlive: true,
    // Less than the idle timeout of common NAT gateways.
    keepAliveInitialDelayMillis: 60_000,
    // Values stay text, whatever type parsers the process sets: an int8 is not rounded.
    types: { getTypeParser: () => (value: unknown) => value },
  });
  guardParsing(socket);
  client.connection.on('sslconnect', () => guardParsing(client.connection.stream));
  if (options.requiresChannelBinding) requireChannelBinding(client.connection);
  // The statement in flight reports the error; without a listener, it would end the process.
  client.on('error', () => socket.destroy());
  return client;
}

const closeTimeoutMs = 1_000;
/** Maximum delay of a timer in Node.js, in milliseconds. */
const maxTimerMs = 2 ** 31 - 1;

/** Waits for a promise, and throws after a timeout. A rejection after the timeout is ignored. */
async function within<T>(timeoutMs: number, work: Promise<T>, what = 'no response'): Promise<T> {
  const timedOut = Promise.withResolvers<never>();
  const fail = () => timedOut.reject(new Error(`${what} within ${Math.round(timeoutMs)} ms`));
  const timer = setTimeout(fail, Math.min(timeoutMs, maxTimerMs));
  return Promise.race([work, timedOut.promise]).finally(() => clearTimeout(timer));
}
