import { superuserPassword } from '@plantstore/test-support/postgres-server';
import { connectSql } from '@plantstore/test-support/sql-client';
import { inject, onTestFinished } from 'vitest';

let count = 0;

/** Returns a URL of the shared server for a role. Default: the superuser. */
export const sharedUrl = (
  database: string,
  { user = 'postgres', password = superuserPassword } = {},
): string =>
  `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${inject('postgresPort')}/${database}`;

/** Runs SQL statements, and returns the rows of the last one. */
export const runSql = async (
  url: string,
  ...statements: readonly string[]
): Promise<Record<string, unknown>[]> => {
  const client = await connectSql(url);
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) {
      ({ rows } = await client.query<Record<string, unknown>>(statement));
    }
    return rows;
  } finally {
    await client.end();
  }
};

/** Ends every other session of the database. */
export const endSessions = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`;

/** Returns the number of connections of this package to a database. */
export const connectionsOf = async (url: string): Promise<unknown> => {
  const [row] = await runSql(
    url,
    `SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'plantstore'`,
  );
  return row?.['count'];
};

/** Creates an empty database on the shared server, and returns its name. */
export const newDatabase = async (options = ''): Promise<string> => {
  count += 1;
  const name = `plants_${process.pid}_${process.env['VITEST_WORKER_ID'] ?? '0'}_${count}`;
  // Takes less CPU time than the default, which logs each page.
  await runSql(sharedUrl('postgres'), `CREATE DATABASE ${name} STRATEGY file_copy ${options}`);
  return name;
};

/** Databases of earlier tests, which `emptyDatabase` empties: that takes a fraction of the time of CREATE DATABASE. */
const used: string[] = [];

/** Returns an empty database on the shared server, maybe of an earlier test. For tests that change only its schema `public`. */
export const emptyDatabase = async (): Promise<string> => {
  const earlier = used.pop();
  if (earlier !== undefined) {
    await runSql(
      sharedUrl(earlier),
      endSessions,
      'DROP SCHEMA public CASCADE',
      'CREATE SCHEMA public AUTHORIZATION pg_database_owner',
      'GRANT USAGE ON SCHEMA public TO PUBLIC',
    );
  }
  const database = earlier ?? (await newDatabase());
  onTestFinished(() => void used.push(database));
  return database;
};
