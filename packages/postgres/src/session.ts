import { Socket } from 'node:net';
import pg from 'pg';
import { cancelStatement } from './cancel-statement.ts';
import { requireChannelBinding } from './channel-binding.ts';
import type { Address, DatabaseUrl } from './database-url.ts';
import { guardParsing } from './parse-guard.ts';
import { readPassFile } from './pass-file.ts';
import { sqlStateOf } from './server-failure.ts';
import { withTimeout } from './with-timeout.ts';

/** A row; every column as text. */
export type Row = readonly (string | null)[];

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
  readonly query: (query: Query, timeoutMs: number) => Promise<readonly Row[]>;
  /** Whether the connection is open, as far as is known. */
  readonly isUsable: () => boolean;
  /** Sends a Terminate message and closes the connection, after a timeout if the server does not respond. */
  readonly close: () => Promise<void>;
  /** Closes the connection immediately, and cancels a statement without a response. */
  readonly destroy: () => void;
  /** Closes the connection immediately. The first call returns a function that cancels a statement without a response. */
  readonly abandon: () => (() => void) | undefined;
};

const closeTimeoutMs = 1_000;

/** The BackendKeyData message, which a CancelRequest repeats. */
type BackendKey = { readonly processID: number; readonly secretKey: number };

const connect = async (
  address: Address,
  url: DatabaseUrl,
  ssl: DatabaseUrl['tls'],
  timeoutMs: number,
): Promise<Session> => {
  const socket = new Socket();
  const client = new pg.Client({
    ...address,
    user: url.user,
    database: url.database,
    // Reads the password file for each connection, so that it can change without a restart. The driver's own
    // support is deprecated.
    password: async () => url.password ?? (await readPassFile(address, url)) ?? '',
    application_name: url.applicationName,
    options: url.options,
    enableChannelBinding: url.requiresChannelBinding,
    ssl,
    stream: () => socket,
    keepAlive: true,
    // Values stay text, independent of the type parsers that the process sets for pg: an int8 is not rounded.
    types: { getTypeParser: () => (value: unknown) => value },
  });
  guardParsing(socket);
  client.connection.on('sslconnect', () => {
    guardParsing(client.connection.stream);
  });
  if (url.requiresChannelBinding) requireChannelBinding(client.connection);
  let key: BackendKey | undefined;
  client.connection.on('backendKeyData', (data: BackendKey) => {
    key = data;
  });
  const state = { isUsable: true, isInDoubt: false, isRunning: false };
  // The statement in flight reports the error; without a listener, it would end the process.
  client.on('error', () => {
    state.isUsable = false;
  });
  client.on('end', () => {
    state.isUsable = false;
  });
  client.on('notice', ({ routine }) => {
    // The server reports success for a commit whose wait for a standby was canceled.
    if (routine === 'SyncRepWaitForLSN') state.isInDoubt = true;
  });
  const abandon = () => {
    state.isUsable = false;
    socket.destroy();
    const backend = key;
    if (!state.isRunning || backend === undefined) return undefined;
    state.isRunning = false;
    return () => void cancelStatement(address, backend.processID, backend.secretKey);
  };
  const destroy = () => abandon()?.();
  try {
    await withTimeout(timeoutMs, client.connect());
  } catch (thrown) {
    destroy();
    throw thrown;
  }
  return {
    address,
    isUsable: () => state.isUsable,
    destroy,
    abandon,
    async query({ values = [], ...statement }, statementTimeoutMs) {
      socket.ref();
      try {
        const result = client.query<(string | null)[]>({
          ...statement,
          values: [...values],
          rowMode: 'array',
        });
        const { rows } = await withTimeout(statementTimeoutMs, result);
        if (state.isInDoubt) throw new Error('the commit may not have reached the standby');
        return rows;
      } catch (thrown) {
        // Without a response, the statement may still be running.
        state.isRunning = sqlStateOf(thrown) === undefined && !state.isInDoubt;
        throw thrown;
      } finally {
        // Only a statement in flight keeps the process alive, not an idle repository.
        socket.unref();
      }
    },
    async close() {
      socket.ref();
      await withTimeout(closeTimeoutMs, client.end()).catch(() => {});
      destroy();
    },
  };
};

const isTlsUnsupported = (thrown: unknown): boolean =>
  thrown instanceof Error && thrown.message === 'The server does not support SSL connections';

/** Connects to a server and logs in. */
export const startSession = async (
  address: Address,
  url: DatabaseUrl,
  timeoutMs: number,
): Promise<Session> => {
  // PostgreSQL does not support TLS on Unix-domain sockets.
  const options = address.host.startsWith('/') ? false : url.tls;
  try {
    return await connect(address, url, options, timeoutMs);
  } catch (thrown) {
    if (!url.isTlsOptional || !isTlsUnsupported(thrown)) throw thrown;
    return connect(address, url, false, timeoutMs);
  }
};
