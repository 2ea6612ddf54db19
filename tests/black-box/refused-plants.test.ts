import { connectSql } from '@plantstore/test-support/sql-client';
import { type PostgresServer, startPostgres } from '@plantstore/test-support/postgres-server';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { newFolder, startProgram, token, untilLogged } from './program.ts';
import { runCommand } from './run-command.ts';

type Run = (sql: string) => Promise<void>;

let postgres: PostgresServer | undefined;
let count = 0;
afterAll(async () => postgres?.dispose());

/** Creates a database with a table of plants. Returns its URL, and a function that alters it. */
const databases: Record<string, () => Promise<{ url: string; alter: Run }>> = {
  async PostgreSQL() {
    postgres ??= await startPostgres();
    const { url } = postgres;
    const run = async (database: string, sql: string) => {
      const client = await connectSql(url(database));
      await client.query(sql);
      await client.end();
    };
    const name = `plants_${(count += 1)}`;
    await run('postgres', `CREATE DATABASE ${name}`);
    return { url: url(name), alter: async (sql) => run(name, sql) };
  },
  async SQLite() {
    const path = join(await newFolder(), 'plants.db');
    const alter: Run = async (sql) => {
      const database = new DatabaseSync(path);
      database.exec(sql);
      database.close();
      return Promise.resolve();
    };
    return { url: `sqlite:${path}`, alter };
  },
};

it.each([
  ['PostgreSQL', 'ALTER TABLE plants ADD CHECK (length(name) < 100)', 'violates check constraint'],
  ['PostgreSQL', 'CREATE INDEX ON plants (name)', 'index row requires 20'],
  [
    'PostgreSQL',
    `CREATE INDEX ON plants ((CASE WHEN length(name) > 99 THEN name::int END))`,
    'invalid input syntax for type integer',
  ],
  [
    'SQLite',
    `CREATE INDEX i ON plants (json(iif(length(name) > 99, name, '1')))`,
    'malformed JSON',
  ],
])(
  'a plant that %s refuses because of "%s" gets 400 with 4000, its reason is in the log only, and an import names its line and goes on',
  async (kind, sql, reason) => {
    const { url, alter } = await databases[kind]!();
    const env = { PLANTSTORE_DATABASE: url };
    const cwd = await newFolder();
    // Creates the table.
    await runCommand(['import'], { cwd, env });
    await alter(sql);

    const long = Array.from({ length: 20_000 }, () => Math.floor(Math.random() * 36).toString(36));
    const plants = ['Monstera', long.join(''), 'Ficus'].map((name, id) =>
      JSON.stringify({ id, name }),
    );
    const stdin = plants.join('\n');
    const imported = await runCommand(['import'], { cwd, env, stdin });
    expect(imported).toMatchObject({
      status: 3,
      stdout: '2 plants in the database, 1 refused\n',
      stderr: expect.stringMatching(
        new RegExp(`^line 2: the database does not accept this plant: .*${reason}.*\n$`),
      ) as unknown,
    });

    const server = await startProgram({ env });
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const create = async (body: string) => fetch(server.url, { method: 'POST', headers, body });
    const responses = await Promise.all(plants.map(create));
    expect(responses.map(({ status }) => status)).toEqual([200, 400, 200]);
    expect(await responses[1]?.text()).toBe(
      '{"error":4000,"message":"the database does not accept this plant"}',
    );
    await untilLogged(server, (log) => log.includes('"error":4000'));
    const line = server
      .stdout()
      .split('\n')
      .find((one) => one.includes('"error":4000'));
    expect(JSON.parse(line ?? '')).toMatchObject({
      level: 'info',
      status: 400,
      cause: expect.stringContaining(reason) as unknown,
    });
  },
);
