import { connectSql } from '@plantstore/test-support/sql-client';
import { expect, it, onTestFinished } from 'vitest';
import {
  monstera,
  openBehindProxy,
  outcomesOf,
  plantsFrom,
  expectStored,
} from '../../test/behind-proxy.ts';
import { open, openAndClose } from '../../test/open.ts';
import { newDatabase, runSql, sharedUrl } from '../../test/shared-postgres.ts';
import type { PostgresRepository } from '../repository.ts';

/** Runs statements in a transaction of another session, and leaves it open. */
const holdOpen = async (url: string, ...statements: readonly string[]) => {
  const holder = await connectSql(url);
  onTestFinished(async () => holder.end());
  await holder.query(['BEGIN', ...statements].join('; '));
  return holder;
};

const insertOf = (id: bigint) => `INSERT INTO plants (id, name) VALUES (${id}, 'Ficus')`;

const idsRefused = async (
  repository: PostgresRepository,
  plants: ReturnType<typeof plantsFrom>,
): Promise<bigint[]> => {
  const outcomes = await outcomesOf(repository, plants);
  return plants.flatMap(({ id }, index) => (outcomes[index] === 'ok' ? [] : [id]));
};

it('only creates of ids that another session has locked are store-unavailable, with this reason, also while the repository closes', async () => {
  const locked = [2n, 3n, 11n, 12n, 31n];
  let [deadlineMs, refused, url] = [2_500, Promise.resolve<bigint[]>([]), ''];
  const attempt = async () => {
    // A busy machine may need more time to find out why.
    deadlineMs *= 2;
    const { repository, direct } = await openBehindProxy({ deadlineMs });
    await holdOpen(direct, ...locked.map(insertOf));
    const creating = repository.create({ id: 2n, name: 'Hoya' });
    [refused, url] = [idsRefused(repository, plantsFrom(0, 32)), direct];
    await repository.close();
    return (await creating)._unsafeUnwrapErr();
  };
  const reason = expect.stringContaining('another session has locked its id') as unknown;
  await expect.poll(attempt).toMatchObject({ kind: 'store-unavailable', reason });
  expect(await refused).toEqual(locked);
  const others = plantsFrom(0, 32).filter(({ id }) => !locked.includes(id));
  await expectStored(url, others);
});

it.each([30_000, 90])(
  'no other plant waits while the first 30 ids of a batch are locked, with a statement timeout of %i ms',
  async (statementTimeoutMs) => {
    const { repository, direct } = await openBehindProxy({ statementTimeoutMs });
    const plants = plantsFrom(0, 300);
    const holder = await holdOpen(direct, ...plants.slice(0, 30).map(({ id }) => insertOf(id)));
    const creating = plants.map(async (plant) => (await repository.create(plant)).isOk());
    expect(await Promise.all(creating.slice(30))).not.toContain(false);
    expect(await idsRefused(repository, plantsFrom(1_000, 8))).toEqual([]);
    expect(repository.waiting()).toBe(30);
    await holder.query('ROLLBACK');
    expect(await Promise.all(creating)).not.toContain(false);
  },
);

it.each([
  ['COMMIT', 'id-taken'],
  ['ROLLBACK', 'ok'],
])('a create of a locked id completes when the transaction ends with %s', async (end, outcome) => {
  const { repository, direct } = await openBehindProxy();
  const holder = await holdOpen(direct, insertOf(7n));
  const locked = outcomesOf(repository, [monstera]);
  expect(await idsRefused(repository, plantsFrom(100, 8))).toEqual([]);
  expect(repository.waiting()).toBe(1);
  await holder.query(end);
  expect(await locked).toEqual([outcome]);
});

it('creates succeed after a lock of the table, also with a lock_timeout on the server', async () => {
  const database = await newDatabase();
  const direct = sharedUrl(database);
  // Before the timeout is set, because creating the table can wait for locks of the catalog.
  await openAndClose(direct);
  await runSql(direct, `ALTER DATABASE ${database} SET lock_timeout = '50ms'`);
  const repository = await open(direct, { deadlineMs: 600, statementTimeoutMs: 200 });
  const holder = await holdOpen(direct, 'LOCK TABLE plants');
  const plants = plantsFrom(0, 32);
  expect(await idsRefused(repository, plants)).toEqual(plants.map(({ id }) => id));
  await holder.query('ROLLBACK');
  await expect.poll(async () => idsRefused(repository, plants)).toEqual([]);
  await expectStored(direct, plants);
});
