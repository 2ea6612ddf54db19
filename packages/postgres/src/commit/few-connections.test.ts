import { setTimeout as sleep } from 'node:timers/promises';
import { connectSql } from '@plantstore/test-support/sql-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { failToOpen, newRole, open, openAndClose } from '../../test/open.ts';
import { poolerVersion, startPooler } from '../../test/pooler.ts';
import { connectionsOf, newDatabase, runSql, sharedUrl } from '../../test/shared-postgres.ts';
import type { PostgresRepository } from '../repository.ts';

const limited = async (limit: number) => {
  const database = await newDatabase();
  const direct = sharedUrl(database);
  const role = await newRole(database);
  await openAndClose(direct);
  await runSql(
    direct,
    `GRANT SELECT, INSERT ON plants TO ${role.user}`,
    `ALTER ROLE ${role.user} CONNECTION LIMIT ${limit}`,
  );
  return { direct, role, url: sharedUrl(database, role) };
};

/** Creates plants and checks concurrently for a while; returns the number of creates and every failure. */
const runLoad = async (repository: PostgresRepository) => {
  const failures: unknown[] = [];
  let created = 0;
  const end = performance.now() + 1_500;
  const client = async (first: bigint) => {
    for (let id = first; performance.now() < end; id += 100n) {
      const result = await repository.create({ id, name: 'Monstera' });
      if (result.isErr()) failures.push(result.error);
      created += 1;
    }
  };
  const probe = async () => {
    for (; performance.now() < end; await sleep(20)) {
      const checked = await repository.check();
      if (checked.isErr()) failures.push(checked.error);
    }
  };
  // Several batches at once: the creates get their connections first.
  await Promise.all(
    Array.from({ length: 2_500 }, async (_, n) => {
      const result = await repository.create({ id: -BigInt(n) - 1n, name: 'Monstera' });
      if (result.isErr()) failures.push(result.error);
      created += 1;
    }),
  );
  await Promise.all([...Array.from({ length: 16 }, async (_, n) => client(BigInt(n))), probe()]);
  return { failures, created };
};

describe('few connections', () => {
  it.each([1, 2, 3, 4])(
    'a role with CONNECTION LIMIT %i is enough for creates and checks',
    async (limit) => {
      const { url, direct } = await limited(limit);
      const repository = await open(url, { deadlineMs: 2_000 });
      const { failures, created } = await runLoad(repository);
      expect(failures).toEqual([]);
      expect(await runSql(direct, 'SELECT count(*)::int FROM plants')).toEqual([
        { count: created },
      ]);
      expect(await connectionsOf(direct)).toBeLessThanOrEqual(limit);
    },
  );

  it('a connection that is lost is replaced when the role may have one connection', async () => {
    const { url, direct } = await limited(1);
    const repository = await open(url, { deadlineMs: 5_000 });
    for (let id = 0n; id < 3n; id += 1n) {
      await runSql(
        direct,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );
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

  it('an open that the limit of connections prevents is reported with its own advice', async () => {
    const { url, direct, role } = await limited(0);
    expect(await failToOpen(url)).toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/limit of connections.*up to four.*one is enough/) as unknown,
    });
    await runSql(direct, `ALTER ROLE ${role.user} CONNECTION LIMIT 1`);
  });

  it
    .runIf(poolerVersion !== undefined)
    .each([
      ['pool_mode = session\ndefault_pool_size = 1'],
      ['pool_mode = session\ndefault_pool_size = 2'],
      ['max_client_conn = 1'],
      ['max_client_conn = 2'],
    ])('pgbouncer with %j is enough for creates and checks', async (setting) => {
    const database = await newDatabase();
    const url = `postgres://postgres@127.0.0.1:${await startPooler(setting)}/${database}`;
    const repository = await open(url, { deadlineMs: 2_000, connectTimeoutMs: 1_000 });
    expect((await runLoad(repository)).failures).toEqual([]);
    if (setting.startsWith('max_client_conn = 1')) {
      expect((await failToOpen(url)).message).toMatch(/limit of connections/);
    }
  });
});
