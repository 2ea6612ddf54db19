import { type PostgresServer, startPostgres } from '@plantstore/test-support/postgres-server';
import { connectSql } from '@plantstore/test-support/sql-client';
import type { Plan } from './plan.ts';
import { type Proxy, startProxy } from './proxy.ts';
import { commonReasons, rowsOf, type Store } from './store.ts';

export type PostgresStore = Store & {
  readonly server: PostgresServer;
  readonly proxy: Proxy;
  /** The name of the role and of the database. */
  readonly role: string;
  /** Of the superuser. */
  readonly url: string;
  /** Runs statements as the superuser. Resolves with the error message, if they fail. */
  readonly sql: (statements: string) => Promise<string | undefined>;
  /** Ends every session of the role. */
  readonly endSessions: () => Promise<unknown>;
};

/** Settings of a server with few connections, whose commits are fast. */
const settings = 'max_connections = 25\nfsync = off\nwal_writer_delay = 10s\nshared_buffers = 16MB';
const table = 'public.plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)';

/** Starts a server. Each run has a database and a role of its own on it. */
export async function startPostgresStores() {
  const server = await startPostgres(settings);
  let count = 0;
  return { create, dispose: server.dispose };

  /** The role owns the database and creates the table, or may only use it. */
  async function create({ seed }: Plan): Promise<PostgresStore> {
    const role = `truth_${process.pid}_${(count += 1)}`;
    // The operator also succeeds while the database is read-only or without its standby.
    const options = '-c default_transaction_read_only=off -c synchronous_commit=local';
    const url = `${server.url(role)}?options=${encodeURIComponent(options)}`;
    const sql: PostgresStore['sql'] = async (statements) =>
      query(url, statements).then(() => undefined, String);
    await query(server.url(), `CREATE ROLE ${role} LOGIN PASSWORD 'truth'`);
    await query(server.url(), `CREATE DATABASE ${role} ${seed % 2 ? '' : `OWNER ${role}`}`);
    if (seed % 2 === 1)
      await query(url, `CREATE TABLE ${table}; GRANT SELECT, INSERT ON public.plants TO ${role}`);
    const proxy = await startProxy(server.port);
    const sessions = `FROM pg_stat_activity WHERE usename = '${role}'`;
    return {
      database: `postgres://${role}:truth@127.0.0.1:${proxy.port}/${role}?sslmode=disable`,
      env: {},
      server,
      proxy,
      role,
      url,
      sql,
      endSessions: async () => sql(`SELECT pg_terminate_backend(pid) ${sessions}`),
      read: async () =>
        query(url, 'SELECT id::text, name, tag FROM public.plants').then(
          (rows) => ({ rows: rowsOf(rows) }),
          (thrown: unknown) => ({ rows: new Map(), damage: String(thrown) }),
        ),
      walSize: () => 0,
      reasons,
      async dispose() {
        proxy.end();
        proxy.close();
        // They only make room: a server that an act has left stopped must not end all runs.
        await query(server.url(), `DROP DATABASE ${role} WITH (FORCE)`).catch(() => {});
        await query(server.url(), `DROP ROLE ${role}`).catch(() => {});
      },
    };
  }
}

async function query(url: string, statements: string): Promise<readonly unknown[]> {
  const client = await connectSql(url);
  try {
    return (await client.query(statements)).rows as unknown[];
  } finally {
    await client.end().catch(() => {});
  }
}

const reasons: Store['reasons'] = [
  ...commonReasons,
  [/no database server can be reached|ECONNREFUSED/, 'down network'],
  [/limit of connections|too many (clients|connections)/, 'role'],
  [/correct the password|does not permit this login/, 'role'],
  [/another session has locked/, 'lock slow network standby table'],
  [/lacks a privilege|may not create or alter|permission denied/, 'role table'],
  [/accepts (no )?writes|read-only transaction/, 'read-only'],
  [
    /Connection terminated|ECONNRESET|no response|does not respond/,
    'down network sessions lock standby slow table',
  ],
  [/has another plants|finds no table|leads to no table|violates|trigger|row security/, 'table'],
];
