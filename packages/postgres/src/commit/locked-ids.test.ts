import { connectSql } from '@plantstore/test-support/sql-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { insertsIn, monstera, openBehindProxy, plantsFrom } from '../../test/behind-proxy.ts';
import { open, openAndClose } from '../../test/open.ts';
import { expectStored } from '../../test/load.ts';
import { emptyDatabase, newDatabase, runSql, sharedUrl } from '../../test/shared-postgres.ts';
import type { PostgresRepository } from '../repository.ts';

/** Runs statements in a transaction of another session, and leaves it open. */
const holdOpen = async (url: string, ...statements: readonly string[]) => {
  const holder = await connectSql(url);
  onTestFinished(async () => holder.end());
  for (const statement of ['BEGIN', ...statements]) await holder.query(statement);
  return holder;
};

const insertOf = (id: bigint) => `INSERT INTO plants (id, name) VALUES (${id}, 'Ficus')`;

const idsRefused = async (
  repository: PostgresRepository,
  plants: ReturnType<typeof plantsFrom>,
): Promise<bigint[]> => {
  const created = await Promise.all(plants.map(async (plant) => repository.create(plant)));
  return plants.flatMap(({ id }, index) => (created[index]?.isErr() === true ? [id] : []));
};

/** A create of a locked id waits until its deadline. */
const limits = { deadlineMs: 2_000 };

describe('uncommitted plants of another session', () => {
  it.each<readonly [string, readonly bigint[]]>([
    ['one', [7n]],
    ['two', [7n, 21n]],
    ['five', [2n, 3n, 11n, 12n, 31n]],
  ])(
    'only creates of ids that another session has inserted without a commit are store-unavailable: %s',
    async (_, locked) => {
      const { repository, direct } = await openBehindProxy(limits);
      const holder = await holdOpen(direct, ...locked.map(insertOf));
      expect(await idsRefused(repository, plantsFrom(0, 32))).toEqual(locked);
      const lockedPlants = locked.map((id) => ({ id, name: 'Monstera' }));
      const again = [...plantsFrom(100, 32), ...lockedPlants];
      expect(await idsRefused(repository, again)).toEqual(locked);
      await holder.query('ROLLBACK');
      expect(await idsRefused(repository, lockedPlants)).toEqual([]);
      await expectStored(direct, [...plantsFrom(0, 32), ...plantsFrom(100, 32)]);
    },
  );

  it('no other plant of a batch waits when its first 100 ids are locked', async () => {
    const { repository, direct } = await openBehindProxy();
    const plants = plantsFrom(0, 1_000);
    const holder = await holdOpen(direct, ...plants.slice(0, 100).map(({ id }) => insertOf(id)));
    const creating = plants.map(async (plant) => (await repository.create(plant)).isOk());
    expect(await Promise.all(creating.slice(100))).not.toContain(false);
    expect(repository.waiting()).toBe(100);
    await holder.query('ROLLBACK');
    expect(await Promise.all(creating)).not.toContain(false);
  });

  it('the reason of a create of a locked id names the lock, and other plants are created meanwhile', async () => {
    const { repository, direct } = await openBehindProxy(limits);
    await holdOpen(direct, insertOf(7n));
    const isComplete = { locked: false };
    const locked = (async () => {
      const refused = (await repository.create(monstera))._unsafeUnwrapErr();
      isComplete.locked = true;
      return refused;
    })();
    for (let id = 100n; !isComplete.locked; id += 1n) {
      expect((await repository.create({ id, name: 'Hoya' })).isOk()).toBe(true);
    }
    expect(await locked).toMatchObject({
      kind: 'store-unavailable',
      reason: expect.stringContaining('another session has locked its id') as unknown,
    });
  });

  it('the reason of a create of a locked id names the lock when the timeout of a statement is short', async () => {
    const { repository, direct } = await openBehindProxy({ ...limits, statementTimeoutMs: 200 });
    await holdOpen(direct, insertOf(7n));
    expect((await repository.create(monstera))._unsafeUnwrapErr()).toMatchObject({
      reason: expect.stringContaining('another session has locked its id') as unknown,
    });
  });

  it.each(['COMMIT', 'ROLLBACK'])(
    'a create of a locked id completes when the transaction ends with %s, and others do not wait',
    async (end) => {
      const { repository, direct } = await openBehindProxy();
      const holder = await holdOpen(direct, insertOf(7n));
      const locked = repository.create(monstera);
      expect(await idsRefused(repository, plantsFrom(100, 8))).toEqual([]);
      expect(repository.waiting()).toBe(1);
      await holder.query(end);
      const kind = (await locked).match(
        () => 'ok',
        (error) => error.kind,
      );
      expect(kind).toBe(end === 'COMMIT' ? 'id-taken' : 'ok');
    },
  );

  it('several repositories can create the same plant while their statements are slow', async () => {
    const url = sharedUrl(await emptyDatabase());
    const repositories = [await open(url), await open(url)];
    await runSql(
      url,
      `CREATE FUNCTION be_slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_sleep(1.5); RETURN NULL; END $$`,
      'CREATE TRIGGER be_slow AFTER INSERT ON plants FOR EACH ROW EXECUTE FUNCTION be_slow()',
    );
    const created = await Promise.all(
      repositories.map(async (repository) => repository.create(monstera)),
    );
    expect(created.map((one) => one.isOk())).toEqual([true, true]);
  });

  it('closing the repository waits for creates of locked ids', async () => {
    const { repository, direct } = await openBehindProxy(limits);
    await holdOpen(direct, insertOf(7n));
    const refused = idsRefused(repository, plantsFrom(0, 32));
    await repository.close();
    expect(await refused).toEqual([7n]);
  });

  it('no batch is split after the deadline of its creates', async () => {
    const { proxy, repository, direct } = await openBehindProxy({ deadlineMs: 400 });
    const plants = plantsFrom(0, 256);
    await holdOpen(direct, ...plants.map(({ id }) => insertOf(id)));
    expect(await idsRefused(repository, plants)).toHaveLength(256);
    await repository.close();
    // Each insert waits for a lock, so that a part of the 511 parts is inserted before the deadline.
    expect(insertsIn(proxy)).toBeLessThan(256);
  });

  it('no batch causes a deadlock error in a program that inserts the same ids in another order', async () => {
    const { repository, direct } = await openBehindProxy(limits);
    // In a deadlock, the server aborts the session whose deadlock_timeout ends first.
    const holder = await holdOpen(direct, `SET deadlock_timeout = '60s'`, insertOf(31n));
    const creating = idsRefused(repository, plantsFrom(0, 32));
    // In descending order, each insert waits for a batch that may be waiting for this session.
    for (let id = 30n; id >= 0n; id -= 1n) {
      await holder.query(`${insertOf(id)} ON CONFLICT DO NOTHING`);
    }
    await creating;
    await holder.query('ROLLBACK');
    expect(await idsRefused(repository, plantsFrom(0, 32))).toEqual([]);
  });
});

describe('table that another session has locked', () => {
  it.each(['', ' with a lock_timeout on the server'])(
    'creates are store-unavailable at their deadline while another session has the table locked, and succeed afterwards%s',
    async (how) => {
      const database = await newDatabase();
      const direct = sharedUrl(database);
      // Before the timeout is set, because creating the table can wait for locks of the catalog.
      await openAndClose(direct);
      if (how !== '') await runSql(direct, `ALTER DATABASE ${database} SET lock_timeout = '50ms'`);
      const repository = await open(direct, { deadlineMs: 600, statementTimeoutMs: 200 });
      const holder = await holdOpen(direct, 'LOCK TABLE plants');
      const plants = plantsFrom(0, 32);
      expect(await idsRefused(repository, plants)).toEqual(plants.map(({ id }) => id));
      await holder.query('ROLLBACK');
      await expect.poll(async () => idsRefused(repository, plants)).toEqual([]);
      await expectStored(direct, plants);
    },
  );
});
