import { connectSql } from '@plantstore/test-support/sql-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { monstera, open, openBehindProxy } from '../test/behind-proxy.ts';
import { expectKept } from '../test/load.ts';
import { newDatabase, runSql, sharedUrl } from '../test/shared-postgres.ts';
import type { PostgresRepository } from './open-postgres-repository.ts';

/** Runs statements in a transaction of another session, and leaves it open. */
const holdOpen = async (url: string, ...statements: readonly string[]) => {
  const holder = await connectSql(url);
  onTestFinished(async () => holder.end());
  for (const statement of ['BEGIN', ...statements]) await holder.query(statement);
  return holder;
};

const insertOf = (id: bigint) => `INSERT INTO plants VALUES (${id}, 'Ficus')`;

const plantsFrom = (first: bigint, count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: first + BigInt(index), name: 'Monstera' }));

const idsRefused = async (
  repository: PostgresRepository,
  plants: ReturnType<typeof plantsFrom>,
): Promise<bigint[]> => {
  const created = await Promise.all(plants.map(async (plant) => repository.create(plant)));
  return plants.flatMap(({ id }, index) => (created[index]?.isErr() === true ? [id] : []));
};

describe('while another session holds uncommitted plants', () => {
  it.each<readonly [string, readonly bigint[]]>([
    ['one', [7n]],
    ['two', [7n, 21n]],
    ['five', [2n, 3n, 11n, 12n, 31n]],
  ])('only creates of their ids are store-unavailable: %s', async (_, locked) => {
    const { repository, direct } = await openBehindProxy({ deadlineMs: 30_000 });
    const holder = await holdOpen(direct, ...locked.map(insertOf));
    expect(await idsRefused(repository, plantsFrom(0n, 32))).toEqual(locked);
    const lockedPlants = locked.map((id) => ({ id, name: 'Monstera' }));
    const again = [...plantsFrom(100n, 32), ...lockedPlants];
    expect(await idsRefused(repository, again)).toEqual(locked);
    await holder.query('ROLLBACK');
    expect(await idsRefused(repository, lockedPlants)).toEqual([]);
    await expectKept(direct, [...plantsFrom(0n, 32), ...plantsFrom(100n, 32)]);
  });

  it('the reason says so, and others are created meanwhile', async () => {
    const { repository, direct } = await openBehindProxy({ deadlineMs: 30_000 });
    await holdOpen(direct, insertOf(7n));
    const isSettled = { locked: false };
    const locked = (async () => {
      const refused = (await repository.create(monstera))._unsafeUnwrapErr();
      isSettled.locked = true;
      return refused;
    })();
    for (let id = 100n; !isSettled.locked; id += 1n) {
      expect((await repository.create({ id, name: 'Hoya' })).isOk()).toBe(true);
    }
    expect(await locked).toMatchObject({
      kind: 'store-unavailable',
      reason: expect.stringContaining('another session holds its id') as unknown,
    });
  });

  it('a create of theirs is settled by the end of the transaction, if that comes soon', async () => {
    const { proxy, repository, direct } = await openBehindProxy({ deadlineMs: 30_000 });
    const holder = await holdOpen(direct, insertOf(7n));
    // The transaction commits where the host makes sure that it is not committing.
    proxy.judge(({ text }) => {
      if (text.startsWith('SELECT id')) void holder.query('COMMIT');
      return 'pass';
    });
    const plants = [monstera, ...plantsFrom(100n, 8)];
    const [refused, ...others] = await Promise.all(
      plants.map(async (plant) => repository.create(plant)),
    );
    expect(refused?._unsafeUnwrapErr()).toEqual({ kind: 'id-taken', id: 7n });
    expect(others.every((one) => one.isOk())).toBe(true);
  });

  it('hosts that create one plant have it, however long their statements take', async () => {
    const url = sharedUrl(await newDatabase());
    const hosts = [await open(url), await open(url)];
    await runSql(
      url,
      `CREATE FUNCTION be_slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_sleep(1.5); RETURN NULL; END $$`,
      'CREATE TRIGGER be_slow AFTER INSERT ON plants FOR EACH ROW EXECUTE FUNCTION be_slow()',
    );
    const created = await Promise.all(hosts.map(async (host) => host.create(monstera)));
    expect(created.map((one) => one.isOk())).toEqual([true, true]);
  });

  it('a repository that is closed settles them first', async () => {
    const { repository, direct } = await openBehindProxy({ deadlineMs: 30_000 });
    await holdOpen(direct, insertOf(7n));
    const refused = idsRefused(repository, plantsFrom(0n, 32));
    await repository.close();
    expect(await refused).toEqual([7n]);
  });

  it('no batch ends a statement of a program that inserts the same ids in another order', async () => {
    const { repository, direct } = await openBehindProxy({ deadlineMs: 30_000 });
    // Of two sessions that deadlock, the server ends the statement of the one that looks first.
    const holder = await holdOpen(direct, `SET deadlock_timeout = '60s'`, insertOf(31n));
    const creating = idsRefused(repository, plantsFrom(0n, 32));
    // Ids in descending order: each waits for a batch that may be waiting for this session.
    for (let id = 30n; id >= 0n; id -= 1n) {
      await holder.query(`${insertOf(id)} ON CONFLICT DO NOTHING`);
    }
    await creating;
    await holder.query('ROLLBACK');
    expect(await idsRefused(repository, plantsFrom(0n, 32))).toEqual([]);
  });
});

describe('while another session holds the table locked', () => {
  it.each(['', ' of a server with a lock timeout of its own'])(
    'creates are store-unavailable at their deadline, and go on afterwards%s',
    async (how) => {
      const database = await newDatabase();
      const direct = sharedUrl(database);
      if (how !== '') await runSql(direct, `ALTER DATABASE ${database} SET lock_timeout = '50ms'`);
      const repository = await open(direct, { deadlineMs: 1_500, statementTimeoutMs: 500 });
      const holder = await holdOpen(direct, 'LOCK TABLE plants');
      const plants = plantsFrom(0n, 32);
      expect(await idsRefused(repository, plants)).toEqual(plants.map(({ id }) => id));
      await holder.query('ROLLBACK');
      expect(await idsRefused(repository, plants)).toEqual([]);
      await expectKept(direct, plants);
    },
  );
});
