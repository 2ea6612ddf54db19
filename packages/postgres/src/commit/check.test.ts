import { type PostgresServer, startPostgres } from '@plantstore/test-support/postgres-server';
import { connectSql } from '@plantstore/test-support/sql-client';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { newTable, noResponseWithin, open } from '../../test/open.ts';
import { connectionsOf, emptyDatabase, runSql, sharedUrl } from '../../test/shared-postgres.ts';
import { columnNames } from '../open/columns.ts';
import type { PostgresRepository } from '../repository.ts';

/** The server of the tests that change its settings or restart it. */
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => server.dispose());

const set = async (setting: string) =>
  runSql(server.url(), `ALTER SYSTEM ${setting}`, 'SELECT pg_reload_conf()');

const isReady = async (repository: PostgresRepository) => (await repository.check()).isOk();
const reasonOf = async (repository: PostgresRepository) =>
  (await repository.check()).match(
    () => 'ready',
    ({ reason }) => reason,
  );

it('checks share the idle connection of the creates, and fail when the repository is closed', async () => {
  const url = sharedUrl(await emptyDatabase());
  const repository = await open(url);
  for (let count = 0; count < 3; count += 1) expect(await isReady(repository)).toBe(true);
  expect(await connectionsOf(url)).toBe(1);
  await Promise.all(Array.from({ length: 8 }, async () => isReady(repository)));
  expect(await connectionsOf(url)).toBe(1);
  const checking = isReady(repository);
  await repository.close();
  expect(await checking).toBe(true);
  expect(await reasonOf(repository)).toBe('the database is closed');
});

it('a role with privileges on the columns of a plant only can start, is ready, and creates plants', async () => {
  const all = columnNames.join();
  const { direct, url } = await newTable(`SELECT (${all}), INSERT (${all})`);
  await runSql(direct, 'ALTER TABLE plants ADD colour text');
  const repository = await open(url);
  expect(await isReady(repository)).toBe(true);
  for (const name of ['Monstera', 'Monstera', 'Ficus'])
    expect((await repository.create({ id: 7n, name })).isOk()).toBe(name === 'Monstera');
  await runSql(direct, `REVOKE INSERT (name) ON plants FROM ${new URL(url).username}`);
  expect(await reasonOf(repository)).toMatch(/permission denied for table plants/);
});

it.each([
  ['the table is renamed', 'ALTER TABLE plants RENAME TO others', 'does not exist'],
  ['a column is renamed', 'ALTER TABLE plants RENAME tag TO label', 'does not exist'],
  ['the key is dropped', 'ALTER TABLE plants DROP CONSTRAINT plants_pkey', 'no unique'],
  ['a rule adds a statement', 'CREATE RULE r AS ON INSERT TO plants DO SELECT 1', 'RULE|rule'],
  ['a rule replaces updates', 'CREATE RULE r AS ON UPDATE TO plants DO INSTEAD NOTHING', 'rule'],
  ['INSERT is revoked', 'REVOKE INSERT ON plants FROM CURRENT', 'permission denied'],
  ['SELECT is revoked', 'REVOKE SELECT ON plants FROM CURRENT', 'permission denied'],
  ['USAGE is revoked', 'REVOKE USAGE ON SCHEMA public FROM PUBLIC', 'permission denied'],
  ['a column needs a value', 'ALTER TABLE plants ADD COLUMN colour text NOT NULL', 'a value'],
  ['no policy permits it', 'ALTER TABLE plants ENABLE ROW LEVEL SECURITY', 'no policy'],
])('a check fails while every create is unavailable because %s', async (_, statement, words) => {
  const { direct, role, url } = await newTable();
  const repository = await open(url);
  expect(await isReady(repository)).toBe(true);
  await runSql(direct, statement.replace('CURRENT', role.user));
  const created = await repository.create({ id: 1n, name: 'x' });
  expect(created._unsafeUnwrapErr().kind).toBe('store-unavailable');
  expect(await reasonOf(repository)).toMatch(new RegExp(words));
});

it.each([
  'ALTER id TYPE int',
  'ALTER id TYPE numeric',
  'ALTER id TYPE float8',
  'ALTER name TYPE char(9)',
  'ALTER tag TYPE name',
  'SET UNLOGGED',
])('a check fails while plants can be lost, changed or refused after %s', async (change) => {
  const url = sharedUrl(await emptyDatabase());
  const repository = await open(url);
  await runSql(url, `ALTER TABLE plants ${change}`);
  expect(await reasonOf(repository)).toMatch(/another plants .*(type|UNLOGGED)/);
  await runSql(
    url,
    'DROP TABLE plants',
    'CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)',
  );
  expect(await isReady(repository)).toBe(true);
});

it('a check fails while a required standby is missing, and heals by itself', async () => {
  const repository = await open(server.url(), { statementTimeoutMs: 500 });
  await set("SET synchronous_standby_names = 'missing'");
  await expect.poll(async () => reasonOf(repository)).toContain(noResponseWithin(500));
  await set('RESET synchronous_standby_names');
  await expect.poll(async () => isReady(repository)).toBe(true);
});

it('the reason of a create and a check is the latest while the server is down, read-only, and available again', async () => {
  const repository = await open(server.url(), { deadlineMs: 500 });
  const ofCreate = async () => {
    const created = await repository.create({ id: 7n, name: 'Monstera' });
    return created.isErr() && 'reason' in created.error ? created.error.reason : 'created';
  };
  const both = async () => [await ofCreate(), await reasonOf(repository)];
  const reason = (words: string) => Array<unknown>(2).fill(expect.stringContaining(words));
  await set('SET default_transaction_read_only = on');
  await expect.poll(async () => reasonOf(repository)).toMatch(/read-only transaction/);
  await server.stop();
  expect(await both()).toEqual(reason('no database server can be reached'));
  await server.start();
  await expect.poll(both).toEqual(reason('no server of the URL accepts writes'));
  await set('RESET default_transaction_read_only');
  await expect.poll(both).toEqual(['created', 'ready']);
});

it('a check that gets no response leaves at most two statements on the server', async () => {
  const url = sharedUrl(await emptyDatabase());
  const repository = await open(url, { statementTimeoutMs: 200 });
  const other = await connectSql(url);
  onTestFinished(async () => other.end());
  await other.query('BEGIN; LOCK TABLE plants');
  for (let count = 0; count < 4; count += 1)
    expect(await reasonOf(repository)).toContain(noResponseWithin(200));
  const waiting = `SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await expect.poll(async () => (await other.query(waiting)).rows.length).toBeLessThanOrEqual(2);
  await other.query('ROLLBACK');
  await expect.poll(async () => isReady(repository)).toBe(true);
});
