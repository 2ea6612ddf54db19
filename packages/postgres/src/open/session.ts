import { once } from 'node:events';
import { Socket } from 'node:net';
import pg from 'pg';
import type { Row } from './columns.ts';
import type { Address, DatabaseUrl } from './database-url.ts';
import { type BackendKey, cancelStatement, guardParsing, requireChannelBinding } from './driver.ts';
import { sqlStateOf } from './errors.ts';
import { throwAfterTimeout } from './throw-after-timeout.ts';

/** Connects to a server and logs in. */
export async function startSession(address: Address, options: SessionOptions) {
  const unencrypted = { ...options, tls: false } as const;
  // PostgreSQL does not support TLS on Unix-domain sockets.
  if (address.host.startsWith('/')) return connect(address, unencrypted);
  return connect(address, options).catch(async (thrown: unknown) => {
    if (!options.isTlsOptional || !isTlsUnsupported(thrown)) throw thrown;
    return connect(address, unencrypted);
  });
}

/** A connection to a server. Its methods throw the exceptions of the driver. */
export type Session = Awaited<ReturnType<typeof connect>>;

/** A statement and its parameters. With a name, it is prepared on first use. Without parameters, several statements are possible. */
export type Query = { text: string; values?: readonly unknown[]; name?: string };

/** The URL, and the timeout of each statement in milliseconds. */
export type SessionOptions = DatabaseUrl & { readonly statementTimeoutMs: number };

async function connect(address: Address, options: SessionOptions) {
  const socket = new Socket();
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
    keepAlive: options.keepAliveIdleMs !== undefined,
    keepAliveInitialDelayMillis: options.keepAliveIdleMs ?? 0,
    // Values stay text, independent of the type parsers that the process sets for pg: an int8 is not rounded.
    types: { getTypeParser: () => (value: unknown) => value },
  });
  guardParsing(socket);
  client.connection.on('sslconnect', () => guardParsing(client.connection.stream));
  if (options.requiresChannelBinding) requireChannelBinding(client.connection);
  let key: BackendKey | undefined;
  client.connection.on('backendKeyData', (data: BackendKey) => (key = data));
  // The statement in flight reports the error; without a listener, it would end the process.
  client.on('error', () => socket.destroy());
  let isInDoubt = false;
  client.on('notice', ({ routine }) => {
    // The server reports success for a commit whose wait for a standby was canceled.
    if (routine === 'SyncRepWaitForLSN') isInDoubt = true;
  });
  let isRunning = false;
  /** Closes the connection immediately. The first call returns a function that cancels a statement without a response. */
  const abandon = () => {
    socket.destroy();
    const running = isRunning ? key : undefined;
    isRunning = false;
    return running && (() => cancelStatement(address, running));
  };
  /** Closes the connection immediately, and cancels a statement without a response. */
  const destroy = () => abandon()?.();
  try {
    const connecting = client.connect();
    const accepted = Promise.race([connecting, once(socket, 'connect')]);
    await throwAfterTimeout(options.connectTimeoutMs, accepted, 'no connection');
    const what = 'the connection was accepted, but no response';
    await throwAfterTimeout(options.loginTimeoutMs, connecting, what);
  } catch (thrown) {
    // A pooler may permit one connection, which is then free for the unencrypted one.
    if (isTlsUnsupported(thrown))
      await throwAfterTimeout(closeTimeoutMs, once(socket, 'close')).catch(() => {});
    destroy();
    throw thrown;
  }
  return {
    address,
    /** Whether the connection is open, as far as is known, and the session is idle. */
    isUsable: () => !socket.destroyed && client.getTransactionStatus() === 'I',
    destroy,
    abandon,
    /** Runs one statement at a time. After an exception that the server did not report, the caller destroys the session. */
    async query(
      { values = [], ...statement }: Query,
      timeoutMs = options.statementTimeoutMs,
    ): Promise<readonly Row[]> {
      socket.ref();
      isRunning = true;
      try {
        const query = { ...statement, values: [...values], rowMode: 'array' } as const;
        const result = await throwAfterTimeout(timeoutMs, client.query<Row[number][]>(query));
        isRunning = false;
        if (isInDoubt) throw new Error('the commit may not have reached the standby');
        // Some poolers open a transaction, in which nothing is committed.
        if (client.getTransactionStatus() !== 'I')
          throw new Error('a pooler has opened a transaction and not committed it');
        return [result].flat().at(-1)?.rows ?? [];
      } catch (thrown) {
        // Without a response, the statement may still be running.
        if (sqlStateOf(thrown) !== undefined) isRunning = false;
        throw thrown;
      } finally {
        // Only a statement in flight keeps the process alive, not an idle repository.
        socket.unref();
      }
    },
    /** Sends a Terminate message and closes the connection, after a timeout if the server does not respond. */
    async close() {
      socket.ref();
      await throwAfterTimeout(closeTimeoutMs, client.end()).catch(() => {});
      destroy();
    },
  };
}

const closeTimeoutMs = 1_000;

function isTlsUnsupported(thrown: unknown): boolean {
  return thrown instanceof Error && /does not support SSL/.test(thrown.message);
}
