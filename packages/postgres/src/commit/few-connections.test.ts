import { connectSql } from '@plantstore/test-support/sql-client';
import { requires } from '@plantstore/test-support/requires';
import { expect, it, onTestFinished } from 'vitest';
import { outcomesOf, plantsFrom } from '../../test/behind-proxy.ts';
import { failToOpen, newTable, open } from '../../test/open.ts';
import { poolerVersion, startPooler } from '../../test/pooler.ts';
import { startProxy } from '../../test/postgres-proxy.ts';
import { connectionsOf, endSessions, newDatabase, runSql } from '../../test/shared-postgres.ts';
import type { PostgresRepository } from '../repository.ts';

const limited = async (limit: number) => {
  const { direct, role, url } = await newTable();
  await runSql(direct, `ALTER ROLE ${role.user} CONNECTION LIMIT ${limit}`);
  return { direct, url };
};

/** Creates plants in several batches, checks meanwhile, and expects that all succeed. */
const expectSuccess = async (repository: PostgresRepository) => {
  const creating = outcomesOf(repository, plantsFrom(0, 3_000));
  for (let count = 0; count < 20; count += 1) expect((await repository.check()).isOk()).toBe(true);
  expect(new Set(await creating)).toEqual(new Set(['ok']));
};

it.each([1, 2, 3])(
  'a role with CONNECTION LIMIT %i is enough for creates and checks',
  async (limit) => {
    const { url, direct } = await limited(limit);
    await expectSuccess(await open(url));
    expect(await connectionsOf(direct)).toBeLessThanOrEqual(limit);
  },
);

it('creates and checks that share the only connection do not connect again each time', async () => {
  const { url } = await limited(1);
  const proxy = await startProxy();
  const repository = await open(proxy.through(url));
  const before = proxy.connections();
  for (let id = 0n; id < 40n; id += 1n) {
    const creating = repository.create({ id, name: 'x' });
    expect((await repository.check()).isOk() && (await creating).isOk()).toBe(true);
  }
  expect(proxy.connections() - before).toBeGreaterThan(0);
  expect(proxy.connections() - before).toBeLessThan(20);
});

it('the only connection is replaced when it is lost, or a statement on it waits', async () => {
  const { url, direct } = await limited(1);
  const repository = await open(url, { statementTimeoutMs: 300, deadlineMs: 1_000 });
  const isCreated = async (id: bigint) => (await repository.create({ id, name: 'x' })).isOk();
  await runSql(direct, endSessions);
  await expect.poll(async () => isCreated(1n)).toBe(true);
  const holder = await connectSql(direct);
  onTestFinished(async () => holder.end());
  await holder.query('BEGIN; LOCK TABLE plants');
  expect(await isCreated(2n)).toBe(false);
  await holder.query('ROLLBACK');
  await expect.poll(async () => isCreated(2n)).toBe(true);
});

it.each(['pool_mode = session\ndefault_pool_size = 1', 'max_client_conn = 1'])(
  'pgbouncer with %j is enough for creates and checks',
  requires(poolerVersion !== undefined, 'pgbouncer is not installed'),
  async (setting) => {
    const database = await newDatabase();
    const url = `postgres://postgres@127.0.0.1:${await startPooler(setting)}/${database}`;
    await expectSuccess(await open(url, { connectTimeoutMs: 1_000 }));
    if (setting !== 'max_client_conn = 1') return;
    expect((await failToOpen(url)).message).toMatch(/no connection free \(one is enough\)/);
  },
);
