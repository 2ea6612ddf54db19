import { connectSql } from '@plantstore/test-support/sql-client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { judgeNext, monstera, open, openBehindProxy } from '../test/behind-proxy.ts';
import { expectKept } from '../test/load.ts';
import type { Verdict } from '../test/postgres-proxy.ts';
import { newDatabase, runSql, sharedUrl } from '../test/shared-postgres.ts';

describe('a create whose statement fails', () => {
  const retried: readonly (readonly [string, Verdict])[] = [
    ['a serialization failure', { error: '40001' }],
    ['a deadlock', { error: '40P01' }],
    ['an unknown outcome of a statement that was not run', { error: '40003' }],
    ['an unknown outcome of a statement that was run', { errorAfter: '40003' }],
    ['a timeout of the server’s own', { error: '57014' }],
    ['a lock that is released', { error: '55P03' }],
    ['a server without space', { error: '53100' }],
    ['a leader that became a standby', { error: '25006' }],
    ['a shutdown', { error: '57P01', severity: 'FATAL' }],
    ['a crash', { error: '57P02', severity: 'FATAL' }],
    ['a server that is starting up', { error: '57P03', severity: 'FATAL' }],
    ['a connection failure', { error: '08006', severity: 'FATAL' }],
    ['a reset before the statement', 'reset-before'],
    ['a reset after the statement', 'reset-after'],
  ];

  it.each(retried)('is kept after %s', async (_, verdict) => {
    const { proxy, repository, direct } = await openBehindProxy();
    judgeNext(proxy, /^INSERT/, verdict, verdict);
    expect((await repository.create(monstera)).isOk()).toBe(true);
    await expectKept(direct, [monstera]);
    judgeNext(proxy, /^SELECT id/, verdict, verdict);
    const refused = await repository.create({ id: 7n, name: 'Monstera' });
    expect(refused._unsafeUnwrapErr()).toEqual({ kind: 'id-taken', id: 7n });
  });

  it('stays on its connection where the server only asks to repeat', async () => {
    const { proxy, repository } = await openBehindProxy();
    const before = proxy.connections();
    judgeNext(proxy, /^INSERT/, { error: '40001' }, { error: '40P01' }, { error: '40003' });
    expect((await repository.create(monstera)).isOk()).toBe(true);
    expect(proxy.connections()).toBe(before);
  });

  it.each<Verdict>(['swallow', 'reset-before', { error: '25006' }, { error: '08006' }])(
    'is tried on another connection after %j',
    async (verdict) => {
      const { proxy, repository } = await openBehindProxy({ statementTimeoutMs: 200 });
      const before = proxy.connections();
      judgeNext(proxy, /^INSERT/, verdict);
      expect((await repository.create(monstera)).isOk()).toBe(true);
      expect(proxy.connections()).toBeGreaterThan(before);
    },
  );

  it('is store-unavailable at its deadline, with the reason, and repeating it settles it', async () => {
    const { proxy, repository, direct } = await openBehindProxy({ deadlineMs: 600 });
    proxy.judge(({ text }) => (text.startsWith('INSERT') ? 'reset-after' : 'pass'));
    const began = performance.now();
    const refused = (await repository.create(monstera))._unsafeUnwrapErr();
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(refused).toMatchObject({
      kind: 'store-unavailable',
      reason: expect.stringContaining('did not keep the plant') as unknown,
    });
    await expectKept(direct, [monstera]);
    proxy.judge(() => 'pass');
    expect((await repository.create(monstera)).isOk()).toBe(true);
  });

  it('is store-unavailable at its deadline when the server is frozen', async () => {
    const { proxy, repository } = await openBehindProxy({ deadlineMs: 500 });
    proxy.freeze(true);
    const began = performance.now();
    const refused = (await repository.create(monstera))._unsafeUnwrapErr();
    expect(refused.kind).toBe('store-unavailable');
    expect(performance.now() - began).toBeLessThan(5_000);
    proxy.freeze(false);
    expect((await repository.create(monstera)).isOk()).toBe(true);
  });

  it('may wait for ever', async () => {
    const [deadlineMs, connectTimeoutMs] = [Infinity, Infinity];
    const { repository } = await openBehindProxy({ deadlineMs, connectTimeoutMs });
    expect((await repository.create(monstera)).isOk()).toBe(true);
  });

  it('is told at once what only an operator can mend, and kept when it is mended', async () => {
    const { repository, direct } = await openBehindProxy();
    await runSql(direct, 'ALTER TABLE plants RENAME TO away');
    expect((await repository.create(monstera))._unsafeUnwrapErr()).toMatchObject({
      kind: 'store-unavailable',
      reason: expect.stringMatching(/relation "public.plants" does not exist \(42P01\)/) as unknown,
    });
    await runSql(direct, 'ALTER TABLE away RENAME TO plants');
    expect((await repository.create(monstera)).isOk()).toBe(true);
  });
});

it.each([
  'array_nulls = off',
  'quote_all_identifiers = on',
  'default_transaction_isolation = serializable',
])('plants are kept as they are in a database with %s', async (setting) => {
  const database = await newDatabase();
  await runSql(sharedUrl(database), `ALTER DATABASE ${database} SET ${setting}`);
  const repository = await open(sharedUrl(database));
  const plants = [
    { id: 7n, name: 'NULL' },
    { id: 8n, name: 'Monstera', tag: 'NULL' },
    { id: 9n, name: '', tag: '' },
  ];
  for (const _ of ['first', 'again']) {
    for (const plant of plants) expect((await repository.create(plant)).isOk()).toBe(true);
  }
  await expectKept(sharedUrl(database), plants);
});

it('a create is kept by a server that is slower than a statement may be', async () => {
  const { repository, direct } = await openBehindProxy({ statementTimeoutMs: 500 });
  await runSql(
    direct,
    `CREATE FUNCTION be_slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM pg_sleep(2.5); RETURN NULL; END $$`,
    'CREATE TRIGGER be_slow AFTER INSERT ON plants FOR EACH ROW EXECUTE FUNCTION be_slow()',
  );
  expect((await repository.create(monstera)).isOk()).toBe(true);
});

describe('a create that waits for the table', () => {
  it('leaves little behind on the server when it is given up', async () => {
    const { repository, direct } = await openBehindProxy({
      statementTimeoutMs: 300,
      deadlineMs: 3_000,
    });
    const holder = await connectSql(direct);
    onTestFinished(async () => holder.end());
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE plants');
    expect((await repository.create(monstera))._unsafeUnwrapErr().kind).toBe('store-unavailable');
    await vi.waitFor(async () => {
      const { rows } = await holder.query<{ count: string }>(
        `SELECT count(*) FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = 'plantstore'`,
      );
      expect(Number(rows[0]?.count)).toBeLessThanOrEqual(3);
    });
    await holder.query('ROLLBACK');
    expect((await repository.create(monstera)).isOk()).toBe(true);
  });
});
