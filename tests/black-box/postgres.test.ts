import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type PostgresServer,
  startPostgres,
  superuserPassword,
} from '@plantstore/test-support/postgres-server';
import { connectSql } from '@plantstore/test-support/sql-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newFolder, post, startProgram, untilLogged } from './program.ts';
import { runCommand, writePlants } from './run-command.ts';

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => postgres.dispose());

/** Creates a database for a test. Returns its URL, and a function that runs SQL in it. */
const newDatabase = async (name: string) => {
  const run = async (sql: string, database = name) => {
    const client = await connectSql(postgres.url(database));
    const { rows } = await client.query<object>(sql).finally(async () => client.end());
    return rows;
  };
  await run(`CREATE DATABASE ${name}`, 'postgres');
  return { url: postgres.url(name), run };
};

it('servers with one PostgreSQL database share its plants, and do not log its password', async () => {
  const env = { PLANTSTORE_DATABASE: (await newDatabase('shared')).url };
  const [one, two] = [await startProgram({ env }), await startProgram({ env })];
  expect(await post(one.url, '{"id":9223372036854775807,"name":"Monstera"}')).toMatchObject({
    status: 200,
  });
  expect(await post(two.url, '{"id":9223372036854775807,"name":"Ficus"}')).toMatchObject({
    status: 400,
    error: 1401,
  });
  one.process.kill('SIGKILL');
  expect(await post(two.url, '{"id":9223372036854775807,"name":"Monstera"}')).toMatchObject({
    status: 200,
  });
  two.process.kill('SIGTERM');
  expect(await two.exited).toBe(0);
  expect(two.stdout()).toContain(`postgres://127.0.0.1:${postgres.port}/shared`);
  expect(two.stdout() + two.stderr()).not.toContain(encodeURIComponent(superuserPassword));
});

it('plants go from SQLite to PostgreSQL and back through a pipe or a file, and are equal', async () => {
  const { url, run } = await newDatabase('moved');
  const cwd = await newFolder();
  // CSV has no empty text.
  const text = (await writePlants(join(cwd, 'in.ndjson'), 200)).replaceAll(',"tag":""', '');
  const inPostgres = { cwd, env: { PLANTSTORE_DATABASE: url } };
  await runCommand(['import'], { cwd, stdin: text });
  const { stdout: stdin } = await runCommand(['export'], { cwd });
  expect(await runCommand(['import'], { ...inPostgres, stdin })).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('200 plants created in "public".plants in moved, ') as unknown,
  });
  expect(await runCommand(['check'], inPostgres)).toEqual({
    status: 0,
    stdout: '200 plants read from "public".plants in moved\n',
    stderr: '',
  });
  expect((await runCommand(['export'], inPostgres)).stdout).toBe(text);
  const moved = await runCommand(['export', '--format', 'csv'], inPostgres);
  await writeFile(join(cwd, 'moved.csv'), moved.stdout);
  await chmod(join(cwd, 'moved.csv'), 0o644);
  // Another reader of CSV, for which an empty field is absent, too.
  await chmod(cwd, 0o755);
  await run('CREATE TABLE copied (LIKE plants)');
  await run(`COPY copied FROM '${join(cwd, 'moved.csv')}' WITH (FORMAT csv, HEADER match)`);
  const different =
    '(TABLE plants EXCEPT TABLE copied) UNION ALL (TABLE copied EXCEPT TABLE plants)';
  expect(await run(different)).toEqual([]);

  const back = ['--database', 'sqlite:back.db'];
  expect((await runCommand(['import', 'moved.csv', ...back], { cwd })).status).toBe(0);
  expect((await runCommand(['export', ...back], { cwd })).stdout).toBe(text);
  const { status, stderr } = await runCommand(['backup', 'b.db'], inPostgres);
  expect([status, stderr]).toEqual([2, expect.stringContaining('pg_dump')]);
});

it('a plant that the database refuses gets 400 with 4000, its reason is in the log, and an import names its line and goes on', async () => {
  const reason = 'violates check constraint';
  const { url, run } = await newDatabase('refusing');
  const env = { PLANTSTORE_DATABASE: url };
  const cwd = await newFolder();
  // Creates the table.
  await runCommand(['import'], { cwd, env, stdin: '{"id":-1,"name":"a"}\n' });
  await run('DELETE FROM plants');
  await run('ALTER TABLE plants ADD CHECK (length(name) < 100)');

  const plants = ['Monstera', 'x'.repeat(1_000), 'Ficus'].map((name, id) =>
    JSON.stringify({ id, name }),
  );
  const stdin = plants.join('\n');
  const imported = await runCommand(['import'], { cwd, env, stdin });
  expect(imported).toMatchObject({
    status: 3,
    stdout: expect.stringMatching(/^2 plants created.*, 0 already there, 1 refused\n$/) as unknown,
    stderr: expect.stringMatching(
      new RegExp(`^line 2: the database does not accept this plant: .*${reason}.*\n$`),
    ) as unknown,
  });

  const server = await startProgram({ env });
  const errors = await Promise.all(plants.map(async (plant) => post(server.url, plant)));
  expect(errors).toMatchObject([{ status: 200 }, { status: 400, error: 4000 }, { status: 200 }]);
  await untilLogged(server, '"error":4000');
  const line = server
    .stdout()
    .split('\n')
    .find((one) => one.includes('"error":4000'));
  expect(JSON.parse(line ?? '')).toMatchObject({
    level: 'info',
    status: 400,
    cause: expect.stringContaining(reason) as unknown,
  });
});

it('an import creates the first of several plants with one id, although two connections create plants', async () => {
  const { url, run } = await newDatabase('in_order');
  const env = { PLANTSTORE_DATABASE: url };
  const cwd = await newFolder();
  await runCommand(['import'], { cwd, env, stdin: '{"id":-1,"name":"a"}\n' });
  await run('DELETE FROM plants');
  await run(`CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(0.001); RETURN NEW; END $$;
    CREATE TRIGGER wait BEFORE INSERT ON plants FOR EACH ROW WHEN (NEW.name = 'first') EXECUTE FUNCTION wait()`);
  const linesOf = (name: string, from: number) =>
    Array.from({ length: 1_000 }, (_, index) => `{"id":${from + index},"name":"${name}"}\n`);
  const stdin = [...linesOf('first', 0), ...linesOf('second', 500)].join('');
  const { stdout } = await runCommand(['import'], { cwd, env, stdin });
  expect(stdout).toMatch(/^1500 plants created in .*, 0 already there, 500 refused\n$/);
  expect(await run("SELECT FROM plants WHERE name = 'first'")).toHaveLength(1_000);
});

it('a create that waits for a lock is 503 with the reason of the store, below --handler-timeout-ms', async () => {
  const { url } = await newDatabase('locked');
  const args = ['--handler-timeout-ms', '6000'];
  const server = await startProgram({ args, env: { PLANTSTORE_DATABASE: url } });
  const client = await connectSql(url);
  await client.query('BEGIN');
  await client.query("INSERT INTO plants (id, name) VALUES (7, 'a')");
  expect(await post(server.url, '{"id":7,"name":"b"}')).toEqual({ status: 503, error: 3503 });
  await client.end();
  server.process.kill('SIGTERM');
  expect(await server.exited).toBe(0);
  expect(server.stdout()).toContain('request not served');
  expect(server.stdout()).not.toContain('timed out after');
});
