import { Socket } from 'node:net';
import pg from 'pg';
import { cancelStatement } from './cancel-statement.ts';
import { requireChannelBinding } from './channel-binding.ts';
import type { Address, DatabaseUrl } from './database-url.ts';
import { guardParsing } from './parse-guard.ts';
import { readPassFile } from './pass-file.ts';
import { sqlStateOf } from './server-failure.ts';
import { within } from './within.ts';

/** A row as text, whatever the columns' types. */
export type Row = readonly (string | null)[];

/** A statement and its parameters. One with a name is prepared the first time, and then found by its name. */
export type Query = {
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly name?: string;
};

/** One connection to one server. What it throws is what the driver throws. */
export type Session = {
  readonly address: Address;
  /**
   * Runs one statement; one at a time. After it threw what no server reported, such as that the
   * time was up, the session is out of step and to be destroyed.
   */
  readonly query: (query: Query, timeoutMs: number) => Promise<readonly Row[]>;
  /** Whether the connection still stands, as far as is known. */
  readonly isUsable: () => boolean;
  /** Takes leave of the server; a server that does not answer is left without. */
  readonly close: () => Promise<void>;
  /** Ends the connection; a statement that had no answer is canceled. */
  readonly destroy: () => void;
  /** Ends the connection, and gives, once, what cancels a statement that had no answer. */
  readonly leave: () => (() => void) | undefined;
};

const goodbyeMs = 1_000;

/** What a server wants to hear from who cancels a statement. */
type BackendKey = { readonly processID: number; readonly secretKey: number };

const begin = async (
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
    // Read each time, so that it can change without a restart. The driver's own look at the file is deprecated.
    password: async () => url.password ?? (await readPassFile(address, url)) ?? '',
    application_name: url.applicationName,
    options: url.options,
    enableChannelBinding: url.requiresChannelBinding,
    ssl,
    stream: () => socket,
    keepAlive: true,
    // Every value as the server writes it: an int8 is not rounded, whatever else the process does with pg.
    types: { getTypeParser: () => (value: unknown) => value },
  });
  guardParsing(socket);
  client.connection.on('sslconnect', () => {
    guardParsing(client.connection.stream);
  });
  if (url.requiresChannelBinding) requireChannelBinding(client.connection);
  let key: BackendKey | undefined;
  client.connection.on('backendKeyData', (given: BackendKey) => {
    key = given;
  });
  const state = { isUsable: true, isInDoubt: false, isUnanswered: false };
  // The statement on its way reports the failure; without a listener it would end the process.
  client.on('error', () => {
    state.isUsable = false;
  });
  client.on('end', () => {
    state.isUsable = false;
  });
  client.on('notice', ({ routine }) => {
    // The server answers "done" to a commit whose wait for its standby was canceled.
    if (routine === 'SyncRepWaitForLSN') state.isInDoubt = true;
  });
  const leave = () => {
    state.isUsable = false;
    socket.destroy();
    const given = key;
    if (!state.isUnanswered || given === undefined) return undefined;
    state.isUnanswered = false;
    return () => void cancelStatement(address, given.processID, given.secretKey);
  };
  const destroy = () => leave()?.();
  try {
    await within(timeoutMs, client.connect());
  } catch (thrown) {
    destroy();
    throw thrown;
  }
  return {
    address,
    isUsable: () => state.isUsable,
    destroy,
    leave,
    async query({ values = [], ...statement }, patienceMs) {
      socket.ref();
      try {
        const answer = client.query<(string | null)[]>({
          ...statement,
          values: [...values],
          rowMode: 'array',
        });
        const { rows } = await within(patienceMs, answer);
        if (state.isInDoubt) throw new Error('the commit may not have reached the standby');
        return rows;
      } catch (thrown) {
        // Where the server did not answer, the statement may still be running.
        state.isUnanswered = sqlStateOf(thrown) === undefined && !state.isInDoubt;
        throw thrown;
      } finally {
        // An idle repository does not keep a process alive; a create on its way does.
        socket.unref();
      }
    },
    async close() {
      socket.ref();
      await within(goodbyeMs, client.end()).catch(() => {});
      destroy();
    },
  };
};

const hasNoTls = (thrown: unknown): boolean =>
  thrown instanceof Error && thrown.message === 'The server does not support SSL connections';

/** Connects to a server and logs in. */
export const startSession = async (
  address: Address,
  url: DatabaseUrl,
  timeoutMs: number,
): Promise<Session> => {
  // The traffic of a Unix socket does not leave the machine, and PostgreSQL has no TLS on it.
  const options = address.host.startsWith('/') ? false : url.tls;
  try {
    return await begin(address, url, options, timeoutMs);
  } catch (thrown) {
    if (!url.isTlsOptional || !hasNoTls(thrown)) throw thrown;
    return begin(address, url, false, timeoutMs);
  }
};
