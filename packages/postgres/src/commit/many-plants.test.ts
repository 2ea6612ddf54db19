import { runsAll } from '@plantstore/test-support/sample';
import { describe, expect, it, onTestFinished } from 'vitest';
import { handleNext, monstera, openBehindProxy } from '../../test/behind-proxy.ts';
import { open } from '../../test/open.ts';
import { expectStored, startLoad } from '../../test/load.ts';
import { newDatabase, runSql, sharedUrl } from '../../test/shared-postgres.ts';
import type { PostgresRepository } from '../repository.ts';

/** Creates 50 plants concurrently, and expects that only the two named "weed" and the others given are refused. */
const expectWeedRefused = async (repository: PostgresRepository, ...others: readonly number[]) => {
  const results = await Promise.all(
    Array.from({ length: 50 }, async (_, index) =>
      repository.create({ id: BigInt(index), name: index % 20 === 13 ? 'weed' : 'Monstera' }),
    ),
  );
  const refused = results.flatMap((one, index) => (one.isErr() ? [index] : []));
  expect(refused).toEqual([...others, 13, 33]);
};

describe('repository', () => {
  it.each([
    ['constraint', [`ALTER TABLE plants ADD CHECK (name <> 'weed')`]],
    [
      'trigger with a custom SQLSTATE',
      [
        `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          RAISE 'no weed' USING ERRCODE = 'PL001'; END $$`,
        `CREATE TRIGGER refuse BEFORE INSERT ON plants FOR EACH ROW WHEN (NEW.name = 'weed')
          EXECUTE FUNCTION refuse()`,
      ],
    ],
  ])(
    'a repository creates the other plants of a batch when a %s rejects one',
    async (_, statements) => {
      const { repository, direct } = await openBehindProxy();
      await runSql(direct, ...statements);
      await expectWeedRefused(repository);
    },
  );

  it('a repository creates the other plants of a batch when a row security policy rejects or hides one', async () => {
    const database = await newDatabase();
    const role = { user: `${database}_gardener`, password: 'g4rden' };
    await open(sharedUrl(database));
    await runSql(
      sharedUrl(database),
      `CREATE ROLE ${role.user} LOGIN PASSWORD '${role.password}'`,
      `GRANT SELECT, INSERT ON plants TO ${role.user}`,
      'ALTER TABLE plants ENABLE ROW LEVEL SECURITY',
      'CREATE POLICY seen ON plants FOR SELECT USING (id <> 2)',
      `CREATE POLICY taken ON plants FOR INSERT WITH CHECK (name <> 'weed')`,
      `INSERT INTO plants (id, name, tag) VALUES (2, 'Monstera', NULL)`,
    );
    await expectWeedRefused(await open(sharedUrl(database, role)), 2);
  });

  it('a repository creates the other plants of a batch when a trigger discards or changes one', async () => {
    const { repository, direct } = await openBehindProxy();
    await runSql(
      direct,
      `CREATE FUNCTION weed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        NEW.name := trim(NEW.name); RETURN CASE WHEN NEW.name <> 'weed' THEN NEW END; END $$`,
      'CREATE TRIGGER weed BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION weed()',
    );
    for (const _ of ['first', 'again']) {
      const outcomes = await Promise.all(
        ['Monstera', 'weed', ' Ficus ', 'Hoya'].map(async (name, index) =>
          repository.create({ id: BigInt(index), name }).match(
            () => 'ok',
            ({ kind }) => kind,
          ),
        ),
      );
      expect(outcomes).toEqual(['ok', 'plant-refused', 'id-taken', 'ok']);
    }
  });

  it('a repository reads only as much of the stored plants as it compares', async () => {
    const { proxy, repository, direct } = await openBehindProxy();
    await runSql(
      direct,
      `INSERT INTO plants (id, name, tag) SELECT id, repeat('🪴', 250000), repeat('🪴', 250000) FROM generate_series(1, 50) id`,
    );
    const long = '🪴'.repeat(250_000);
    const before = proxy.bytesSent();
    const refused = await Promise.all(
      Array.from({ length: 50 }, async (_, index) =>
        repository.create({ id: BigInt(index + 1), name: '🪴' }),
      ),
    );
    expect(refused.every((one) => one.isErr() && one.error.kind === 'id-taken')).toBe(true);
    expect(proxy.bytesSent() - before).toBeLessThan(10_000);
    expect((await repository.create({ id: 1n, name: long, tag: long })).isOk()).toBe(true);
    expect((await repository.create({ id: 1n, name: long, tag: `${long}!` })).isErr()).toBe(true);
  });

  it('a repository refuses creates beyond maxWaiting immediately, and stores the others', async () => {
    const { proxy, repository } = await openBehindProxy({ maxWaiting: 5 });
    proxy.freeze(true);
    const waiting = Array.from({ length: 5 }, async (_, index) =>
      repository.create({ id: BigInt(index), name: 'Monstera' }),
    );
    expect((await repository.create(monstera))._unsafeUnwrapErr().kind).toBe('store-unavailable');
    proxy.freeze(false);
    expect((await Promise.all(waiting)).every((one) => one.isOk())).toBe(true);
  });

  it('a repository commits the queued plants before it closes, and then returns store-unavailable', async () => {
    const { repository, direct } = await openBehindProxy();
    const plants = Array.from({ length: 2_500 }, (_, index) => ({
      id: BigInt(index),
      name: 'Monstera',
    }));
    const creating = Promise.all(plants.map(async (plant) => repository.create(plant)));
    await repository.close();
    await repository.close();
    expect((await creating).every((one) => one.isOk())).toBe(true);
    await expectStored(direct, plants);
    expect((await repository.create(monstera))._unsafeUnwrapErr().kind).toBe('store-unavailable');
  });

  it('a repository loses no acknowledged plant while connections are reset', async () => {
    const { proxy, repository, direct, url } = await openBehindProxy();
    const load = startLoad([repository, await open(url)]);
    onTestFinished(load.stop);
    for (let cycle = 0; cycle < (runsAll ? 20 : 6); cycle += 1) {
      await load.progress(50);
      proxy.resetAll();
      if (cycle % 5 === 0) handleNext(proxy, /^INSERT/, 'reset-after', 'reset-before');
    }
    await load.progress(50);
    await load.stop();
    expect(load.unavailable).toEqual([]);
    await expectStored(direct, load.acknowledged);
  });
});
