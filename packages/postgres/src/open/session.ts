import { Socket } from 'node:net';
import pg from 'pg';
import { type BackendKey, cancelStatement } from './cancel-statement.ts';
import { requireChannelBinding } from './channel-binding.ts';
import type { Address, DatabaseUrl } from './database-url.ts';
import { guardParsing } from './parse-guard.ts';
import type { Row } from './columns.ts';
import { readPassFile } from './pass-file.ts';
import { sqlStateOf } from './errors.ts';
import { throwAfterTimeout } from './throw-after-timeout.ts';

/** A statement and its parameters. With a name, it is prepared on first use and then executed by name. */
export type Query = {
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly name?: string;
};

/** A connection to a server. Its methods throw the exceptions of the driver. */
export type Session = {
  readonly address: Address;
  /**
   * Runs a statement. The caller waits for each statement before the next one. After an exception that the
   * server did not report, such as a timeout, the caller must destroy the session.
   */
  readonly query: (query: Query) => Promise<readonly Row[]>;
  /** Whether the connection is open, as far as is known. */
  readonly isUsable: () => boolean;
  /** Sends a Terminate message and closes the connection, after a timeout if the server does not respond. */
  readonly close: () => Promise<void>;
  /** Closes the connection immediately, and cancels a statement without a response. */
  readonly destroy: () => void;
  /** Closes the connection immediately. The first call returns a function that cancels a statement without a response. */
  readonly abandon: () => (() => void) | undefined;
};

/** Options of a session: the URL, and the timeout of each statement in milliseconds. */
export type SessionOptions = DatabaseUrl & { readonly statementTimeoutMs: number };

const closeTimeoutMs = 1_000;

const connect = async (address: Address, options: SessionOptions): Promise<Session> => {
  const socket = new Socket();
  const client = new pg.Client({
    ...address,
    user: options.user,
    database: options.database,
    // Reads the password file for each connection, so that it can change without a restart. The driver's own
    // support is deprecated.
    password: async () => options.password ?? (await readPassFile(address, options)) ?? '',
    application_name: options.applicationName,
    options: options.options,
    enableChannelBinding: options.requiresChannelBinding,
    ssl: options.tls,
    stream: () => socket,
    keepAlive: true,
    // Values stay text, independent of the type parsers that the process sets for pg: an int8 is not rounded.
    types: { getTypeParser: () => (value: unknown) => value },
  });
  guardParsing(socket);
  client.connection.on('sslconnect', () => {
    guardParsing(client.connection.stream);
  });
  if (options.requiresChannelBinding) requireChannelBinding(client.connection);
  let key: BackendKey | undefined;
  client.connection.on('backendKeyData', (data: BackendKey) => {
    key = data;
  });
  // The statement in flight reports the error; without a listener, it would end the process.
  client.on('error', () => socket.destroy());
  let isInDoubt = false;
  client.on('notice', ({ routine }) => {
    // The server reports success for a commit whose wait for a standby was canceled.
    if (routine === 'SyncRepWaitForLSN') isInDoubt = true;
  });
  let isRunning = false;
  const abandon = () => {
    socket.destroy();
    const backend = key;
    if (!isRunning || backend === undefined) return undefined;
    isRunning = false;
    return () => cancelStatement(address, backend);
  };
  const destroy = () => abandon()?.();
  try {
    await throwAfterTimeout(options.connectTimeoutMs, client.connect());
  } catch (thrown) {
    destroy();
    throw thrown;
  }
  return {
    address,
    isUsable: () => !socket.destroyed,
    destroy,
    abandon,
    async query({ values = [], ...statement }) {
      socket.ref();
      isRunning = true;
      try {
        const result = client.query<(string | null)[]>({
          ...statement,
          values: [...values],
          rowMode: 'array',
        });
        const { rows } = await throwAfterTimeout(options.statementTimeoutMs, result);
        isRunning = false;
        if (isInDoubt) throw new Error('the commit may not have reached the standby');
        return rows;
      } catch (thrown) {
        // Without a response, the statement may still be running.
        if (sqlStateOf(thrown) !== undefined) isRunning = false;
        throw thrown;
      } finally {
        // Only a statement in flight keeps the process alive, not an idle repository.
        socket.unref();
      }
    },
    async close() {
      socket.ref();
      await throwAfterTimeout(closeTimeoutMs, client.end()).catch(() => {});
      destroy();
    },
  };
};

const isTlsUnsupported = (thrown: unknown): boolean =>
  thrown instanceof Error && thrown.message === 'The server does not support SSL connections';

/** Connects to a server and logs in. */
export const startSession = async (address: Address, options: SessionOptions): Promise<Session> => {
  const unencrypted = { ...options, tls: false } as const;
  // PostgreSQL does not support TLS on Unix-domain sockets.
  if (address.host.startsWith('/')) return connect(address, unencrypted);
  try {
    return await connect(address, options);
  } catch (thrown) {
    if (!options.isTlsOptional || !isTlsUnsupported(thrown)) throw thrown;
    return connect(address, unencrypted);
  }
};
