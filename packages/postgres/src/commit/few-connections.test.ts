import { connectSql } from '@plantstore/test-support/sql-client';
import { requires } from '@plantstore/test-support/requires';
import { describe, expect, it, onTestFinished } from 'vitest';
import { failToOpen, newTable, open } from '../../test/open.ts';
import { poolerVersion, startPooler } from '../../test/pooler.ts';
import { connectionsOf, endSessions, newDatabase, runSql } from '../../test/shared-postgres.ts';
import type { PostgresRepository } from '../repository.ts';

const limited = async (limit: number) => {
  const { direct, role, url } = await newTable();
  await runSql(direct, `ALTER ROLE ${role.user} CONNECTION LIMIT ${limit}`);
  return { direct, url };
};

/** Creates plants in several batches, checks meanwhile, and expects that all succeed. */
const expectSuccess = async (repository: PostgresRepository) => {
  const creates = Array.from({ length: 3_000 }, (_, n) =>
    repository.create({ id: BigInt(n), name: 'Monstera' }),
  );
  const checks = [];
  for (let count = 0; count < 20; count += 1) checks.push(await repository.check());
  const results = [...(await Promise.all(creates)), ...checks];
  expect(results.flatMap((one) => (one.isErr() ? [one.error] : []))).toEqual([]);
};

describe('few connections', () => {
  it.each([1, 2, 3, 4])(
    'a role with CONNECTION LIMIT %i is enough for creates and checks',
    async (limit) => {
      const { url, direct } = await limited(limit);
      await expectSuccess(await open(url));
      expect(await runSql(direct, 'SELECT count(*)::int FROM plants')).toEqual([{ count: 3_000 }]);
      expect(await connectionsOf(direct)).toBeLessThanOrEqual(limit);
    },
  );

  it('a connection that is lost is replaced when the role may have one connection', async () => {
    const { url, direct } = await limited(1);
    const repository = await open(url);
    for (let id = 0n; id < 3n; id += 1n) {
      await runSql(direct, endSessions);
      expect((await repository.create({ id, name: 'x' })).isOk()).toBe(true);
    }
  });

  it('a statement that waits is canceled when it occupies the only connection', async () => {
    const { url, direct } = await limited(1);
    const repository = await open(url, { statementTimeoutMs: 200, deadlineMs: 1_000 });
    const holder = await connectSql(direct);
    onTestFinished(async () => holder.end());
    await holder.query('BEGIN; LOCK TABLE plants');
    expect((await repository.create({ id: 1n, name: 'x' })).isErr()).toBe(true);
    await holder.query('ROLLBACK');
    await expect
      .poll(async () => (await repository.create({ id: 1n, name: 'x' })).isOk())
      .toBe(true);
  });

  it('a start that the limit of connections prevents names how many connections a server uses', async () => {
    const { url } = await limited(0);
    const { kind, message } = await failToOpen(url);
    expect([kind, message]).toEqual([
      'unreachable',
      expect.stringMatching(/limit of connections: one is enough.*up to four/),
    ]);
  });

  it.each([
    ['pool_mode = session\ndefault_pool_size = 1'],
    ['pool_mode = session\ndefault_pool_size = 2'],
    ['max_client_conn = 1'],
    ['max_client_conn = 2'],
  ])(
    'pgbouncer with %j is enough for creates and checks',
    requires(poolerVersion !== undefined, 'pgbouncer is not installed'),
    async (setting) => {
      const database = await newDatabase();
      const url = `postgres://postgres@127.0.0.1:${await startPooler(setting)}/${database}`;
      const repository = await open(url, { connectTimeoutMs: 1_000 });
      await expectSuccess(repository);
      if (setting === 'max_client_conn = 1')
        expect((await failToOpen(url)).message).toMatch(/limit of connections/);
    },
  );
});
