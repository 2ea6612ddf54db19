import { startPostgres } from '@plantstore/test-support/postgres-server';
import { connectSql } from '@plantstore/test-support/sql-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newTable, noResponseWithin, open, openAndClose } from '../../test/open.ts';
import {
  connectionsOf,
  emptyDatabase,
  newDatabase,
  runSql,
  sharedUrl,
} from '../../test/shared-postgres.ts';
import { columnNames } from '../open/columns.ts';

describe('check of a PostgreSQL repository', () => {
  it('the check of a PostgreSQL repository succeeds while the database is available, on the idle connection of the creates', async () => {
    const database = await emptyDatabase();
    const repository = await open(sharedUrl(database));
    await expect.poll(async () => connectionsOf(sharedUrl(database))).toBe(1);
    const results = await Promise.all([1, 2, 3].map(async () => repository.check()));
    expect(results.map((result) => result.isOk())).toEqual([true, true, true]);
    expect((await repository.check()).isOk()).toBe(true);
    expect(await connectionsOf(sharedUrl(database))).toBe(1);
  });

  it('the check of a PostgreSQL repository fails when the database is read-only, or the table or a column does not exist', async () => {
    const database = await newDatabase();
    const repository = await open(sharedUrl(database));
    expect((await repository.check()).isOk()).toBe(true);
    await runSql(sharedUrl(database), 'ALTER TABLE plants RENAME TO others');
    expect((await repository.check())._unsafeUnwrapErr().reason).toMatch(/does not exist/);
    await runSql(
      sharedUrl(database),
      'ALTER TABLE others RENAME TO plants',
      'ALTER TABLE plants RENAME tag TO label',
    );
    expect((await repository.check())._unsafeUnwrapErr().reason).toMatch(/does not exist/);
    await runSql(sharedUrl(database), 'ALTER TABLE plants RENAME label TO tag');
    expect((await repository.check()).isOk()).toBe(true);
    await runSql(
      sharedUrl(database),
      `ALTER DATABASE ${database} SET default_transaction_read_only = on`,
      // Makes the check reconnect.
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = '${database}' AND pid <> pg_backend_pid()`,
    );
    expect((await repository.check())._unsafeUnwrapErr().kind).toBe('store-unavailable');
    expect((await repository.check())._unsafeUnwrapErr().reason).toMatch(/read-only/);
  });

  it('a role with privileges on the columns of a plant only can start, is ready, and creates plants', async () => {
    const all = columnNames.join();
    const { direct, url } = await newTable(`SELECT (${all}), INSERT (${all})`);
    await runSql(direct, 'ALTER TABLE plants ADD colour text');
    const repository = await open(url);
    expect((await repository.check()).isOk()).toBe(true);
    for (const name of ['Monstera', 'Monstera', 'Ficus'])
      expect((await repository.create({ id: 7n, name })).isOk()).toBe(name === 'Monstera');
    await runSql(direct, `REVOKE INSERT (name) ON plants FROM ${new URL(url).username}`);
    expect((await repository.check())._unsafeUnwrapErr().reason).toMatch(
      /permission denied for table plants/,
    );
  });

  const replaceKey = 'ALTER TABLE plants DROP CONSTRAINT plants_pkey';
  it.each([
    ['a column is renamed', 'ALTER TABLE plants RENAME tag TO label'],
    ['the key is dropped', replaceKey],
    ['the key is deferrable', `${replaceKey}, ADD UNIQUE (id) DEFERRABLE`],
    ['there is a deferrable key, too', 'ALTER TABLE plants ADD UNIQUE (id) DEFERRABLE'],
    ['a rule replaces the insert', 'CREATE RULE r AS ON INSERT TO plants DO INSTEAD NOTHING'],
    ['a rule adds a statement', 'CREATE RULE r AS ON INSERT TO plants DO ALSO SELECT 1'],
    ['a rule replaces updates', 'CREATE RULE r AS ON UPDATE TO plants DO INSTEAD NOTHING'],
    ['INSERT is revoked', 'REVOKE INSERT ON plants FROM CURRENT'],
    ['SELECT is revoked', 'REVOKE SELECT ON plants FROM CURRENT'],
    ['USAGE of the schema is revoked', 'REVOKE USAGE ON SCHEMA public FROM PUBLIC'],
    ['a column needs a value', 'ALTER TABLE plants ADD COLUMN colour text NOT NULL'],
    ['a default needs a privilege', 'ALTER TABLE plants ADD COLUMN number serial'],
    ['no policy permits it', 'ALTER TABLE plants ENABLE ROW LEVEL SECURITY'],
  ])(
    'the check of a PostgreSQL repository fails while every create is unavailable because %s',
    async (_, statement) => {
      const { direct, role, url } = await newTable();
      const repository = await open(url);
      expect((await repository.check()).isOk()).toBe(true);
      await runSql(direct, statement.replace('CURRENT', role.user));
      const created = await repository.create({ id: 1n, name: 'x' });
      for (const one of [created, await repository.check()])
        expect(one._unsafeUnwrapErr()).toMatchObject({
          kind: 'store-unavailable',
          reason: expect.stringMatching(/./) as unknown,
        });
    },
  );

  it.each([
    'ALTER TABLE plants ADD COLUMN created_at timestamptz NOT NULL DEFAULT now()',
    'ALTER TABLE plants ADD COLUMN number bigint GENERATED ALWAYS AS IDENTITY',
    'ALTER TABLE plants ADD COLUMN note text',
    'CREATE RULE r AS ON DELETE TO plants DO INSTEAD NOTHING',
    'ALTER TABLE plants ADD UNIQUE (name) DEFERRABLE',
    'ALTER TABLE plants ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON plants USING (true)',
  ])(
    'the check of a PostgreSQL repository succeeds while creates succeed after %s',
    async (statement) => {
      const { direct, url } = await newTable();
      const repository = await open(url);
      await runSql(direct, statement);
      expect((await repository.create({ id: 1n, name: 'x' })).isOk()).toBe(true);
      expect((await repository.check()).isOk()).toBe(true);
      await openAndClose(url);
    },
  );

  it.each([
    'id TYPE int',
    'id TYPE numeric',
    'id TYPE float8',
    'name TYPE char(9)',
    'tag TYPE name',
  ])(
    'the check of a PostgreSQL repository fails while the table changes or refuses plants after ALTER %s',
    async (column) => {
      const url = sharedUrl(await emptyDatabase());
      const repository = await open(url);
      await runSql(url, `ALTER TABLE plants ALTER ${column}`);
      expect((await repository.check())._unsafeUnwrapErr().reason).toMatch(/type/);
    },
  );

  it('the check of a PostgreSQL repository fails while the table is UNLOGGED', async () => {
    const url = sharedUrl(await emptyDatabase());
    const repository = await open(url);
    await runSql(url, 'ALTER TABLE plants SET UNLOGGED');
    expect((await repository.check())._unsafeUnwrapErr().reason).toContain('UNLOGGED');
    await runSql(url, 'ALTER TABLE plants SET LOGGED');
    expect((await repository.check()).isOk()).toBe(true);
  });

  it('the check of a PostgreSQL repository fails while the server is read-only or down, and succeeds afterwards', async () => {
    const server = await startPostgres();
    onTestFinished(server.dispose);
    const repository = await open(server.url());
    expect((await repository.check()).isOk()).toBe(true);
    const reload = 'SELECT pg_reload_conf()';
    const setReadOnly = 'ALTER SYSTEM SET default_transaction_read_only =';
    await runSql(server.url(), `${setReadOnly} on`, reload);
    let checked = await repository.check();
    while (checked.isOk()) checked = await repository.check();
    expect(checked.error.reason).toMatch(/accepts no writes/);
    await runSql(server.url(), `${setReadOnly} off`, reload);
    while (checked.isErr()) checked = await repository.check();
    await server.stop();
    expect((await repository.check())._unsafeUnwrapErr().kind).toBe('store-unavailable');
    expect((await repository.check())._unsafeUnwrapErr().reason).toMatch(/ECONNREFUSED/);
    await server.start();
    expect((await repository.check()).isOk()).toBe(true);
  });

  it('the check of a PostgreSQL repository fails while a required standby is missing, and heals by itself', async () => {
    const server = await startPostgres();
    onTestFinished(server.dispose);
    const repository = await open(server.url(), { statementTimeoutMs: 500 });
    expect((await repository.check()).isOk()).toBe(true);
    const reload = 'SELECT pg_reload_conf()';
    const require = "ALTER SYSTEM SET synchronous_standby_names = 'missing'";
    await runSql(server.url(), require, reload);
    await expect.poll(async () => (await repository.check()).isErr()).toBe(true);
    expect((await repository.check())._unsafeUnwrapErr().reason).toContain(noResponseWithin(500));
    await runSql(server.url(), 'ALTER SYSTEM RESET synchronous_standby_names', reload);
    await expect.poll(async () => (await repository.check()).isOk()).toBe(true);
  });

  it('the reason of a create and a check is the latest after a restart as read-only', async () => {
    const server = await startPostgres();
    onTestFinished(server.dispose);
    const repository = await open(server.url(), { deadlineMs: 500 });
    const reasonOf = async () => {
      const created = await repository.create({ id: 7n, name: 'Monstera' });
      return created.isErr() && 'reason' in created.error ? created.error.reason : '';
    };
    await runSql(server.url(), 'ALTER SYSTEM SET default_transaction_read_only = on');
    await server.stop();
    expect(await reasonOf()).toMatch(/no database server can be reached/);
    await server.start();
    await expect.poll(reasonOf).toMatch(/the server accepts no writes/);
    expect(await reasonOf()).not.toMatch(/no database server can be reached/);
    expect((await repository.check())._unsafeUnwrapErr().reason).toMatch(/accepts no writes/);
  });

  it('the check of a PostgreSQL repository that gets no response leaves at most two statements on the server', async () => {
    const url = sharedUrl(await emptyDatabase());
    const repository = await open(url, { statementTimeoutMs: 200 });
    const other = await connectSql(url);
    onTestFinished(async () => other.end());
    await other.query('BEGIN; LOCK TABLE plants');
    for (let count = 0; count < 5; count += 1)
      expect((await repository.check())._unsafeUnwrapErr().reason).toContain(noResponseWithin(200));
    const waiting = `SELECT count(*) AS waiting FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    const count = async () => (await other.query<{ waiting: string }>(waiting)).rows[0]?.waiting;
    await expect.poll(async () => Number(await count())).toBeLessThanOrEqual(2);
    await other.query('ROLLBACK');
    await expect.poll(async () => (await repository.check()).isOk()).toBe(true);
  });

  it('the check of a PostgreSQL repository fails when the repository is closed', async () => {
    const repository = await open(sharedUrl(await emptyDatabase()));
    const checking = repository.check();
    await repository.close();
    expect((await checking).isOk()).toBe(true);
    expect((await repository.check())._unsafeUnwrapErr().reason).toBe('the database is closed');
  });
});
