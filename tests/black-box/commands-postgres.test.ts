import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres, superuserPassword } from '@plantstore/test-support/postgres-server';
import { connectSql } from '@plantstore/test-support/sql-client';
import { expect, it } from 'vitest';
import { newFolder } from './program.ts';
import { runCommand, writePlants } from './run-command.ts';

it('plants go from SQLite to PostgreSQL and back through a pipe or a file, and are equal', async ({
  onTestFinished,
}) => {
  const server = await startPostgres();
  onTestFinished(server.dispose);
  const cwd = await newFolder();
  const text = await writePlants(join(cwd, 'in.ndjson'), 2_000);
  const postgres = { cwd, env: { PLANTSTORE_DATABASE: server.url() } };

  await runCommand(['import', 'in.ndjson'], { cwd });
  const { stdout: stdin } = await runCommand(['export'], { cwd });
  for (const _ of ['first', 'again']) {
    expect(await runCommand(['import'], { ...postgres, stdin })).toEqual({
      status: 0,
      stdout: '2000 plants in the database, 0 refused\n',
      stderr: '',
    });
  }
  expect(await runCommand(['check'], postgres)).toEqual({
    status: 0,
    stdout: '2000 plants read\n',
    stderr: '',
  });
  expect((await runCommand(['export'], postgres)).stdout).toBe(text);
  const moved = await runCommand(['export', '--format', 'csv'], postgres);
  expect(moved.status).toBe(0);
  await writeFile(join(cwd, 'moved.csv'), moved.stdout);
  await chmod(join(cwd, 'moved.csv'), 0o644);
  // Another reader of CSV, for which an empty field is absent, too.
  const sql = await connectSql(server.url());
  onTestFinished(async () => sql.end());
  await chmod(cwd, 0o755);
  await sql.query('CREATE TABLE copied (LIKE plants)');
  await sql.query(`COPY copied FROM '${join(cwd, 'moved.csv')}' WITH (FORMAT csv, HEADER match)`);
  const different =
    '(TABLE plants EXCEPT TABLE copied) UNION ALL (TABLE copied EXCEPT TABLE plants)';
  expect((await sql.query(different)).rows).toEqual([]);

  const back = ['--database', 'sqlite:back.db'];
  expect((await runCommand(['import', 'moved.csv', ...back], { cwd })).status).toBe(0);
  expect((await runCommand(['export', ...back], { cwd })).stdout).toBe(text);

  const conflict = await runCommand(['import'], {
    ...postgres,
    stdin: text.replace('plant 7 ', 'another '),
  });
  expect(conflict).toMatchObject({ status: 3, stderr: 'line 8: another plant has this id\n' });
  for (const [command, tool] of [
    ['backup', 'pg_dump'],
    ['restore', 'pg_restore'],
  ] as const) {
    const { status, stderr } = await runCommand([command, 'b.db'], postgres);
    expect([status, stderr]).toEqual([2, expect.stringContaining(tool)]);
  }
});

it.each([['check'], ['export'], ['import']])(
  '%s names a PostgreSQL server that cannot be reached, without its password',
  async (command) => {
    const url = `postgres://ada:${encodeURIComponent(superuserPassword)}@127.0.0.1:1/garden`;
    const env = { PLANTSTORE_DATABASE: url };
    const cwd = await newFolder();
    const { status, stdout, stderr } = await runCommand([command], { cwd, env });
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^plantstore-server: .*no database server can be reached.*\n$/);
    expect(stderr).not.toContain(encodeURIComponent(superuserPassword));
  },
);
