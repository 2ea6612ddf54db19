import { expect, it } from 'vitest';
import {
  handleNext,
  insertsOf,
  monstera,
  openBehindProxy,
  plantsFrom,
  expectStored,
} from '../../test/behind-proxy.ts';
import type { StatementAction } from '../../test/postgres-proxy.ts';
import { runSql } from '../../test/shared-postgres.ts';
import { columnNames, declarationOf } from '../open/columns.ts';

it('statements are sent one per message, as a pooler in transaction mode requires, and only the insert is prepared', async () => {
  const { proxy, repository } = await openBehindProxy();
  for (const name of ['Monstera', 'Ficus']) await repository.create({ id: 7n, name });
  await repository.check();
  expect(proxy.statements.length).toBeGreaterThan(4);
  for (const { text, name } of proxy.statements) {
    expect(text).not.toMatch(/;|\bBEGIN\b|\bPREPARE\b|\bSET\b(?!.*ON CONFLICT)/);
    expect(name === '' || text.startsWith('INSERT')).toBe(true);
  }
});

it('a statement contains at most 1,000 plants, sorted by id', async () => {
  const { repository, direct } = await openBehindProxy();
  await runSql(
    direct,
    'CREATE TABLE sizes (size int, sorted bool)',
    `CREATE FUNCTION record_size() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO sizes SELECT count(*), (SELECT array_agg(id) FROM new_plants)
        = (SELECT array_agg(id ORDER BY id) FROM new_plants) FROM new_plants;
      RETURN NULL; END $$`,
    `CREATE TRIGGER record_size AFTER INSERT ON plants REFERENCING NEW TABLE AS new_plants
      FOR EACH STATEMENT EXECUTE FUNCTION record_size()`,
  );
  const created = Array.from({ length: 2_500 }, async (_, index) =>
    repository.create({ id: BigInt((index * 7_919) % 2_500) - 100n, name: 'x' }),
  );
  // Closing commits the plants that wait.
  await repository.close();
  expect((await Promise.all(created)).every((one) => one.isOk())).toBe(true);
  expect((await repository.create(monstera))._unsafeUnwrapErr().kind).toBe('store-unavailable');
  expect(await runSql(direct, 'SELECT size, sorted FROM sizes ORDER BY size')).toEqual([
    { size: 500, sorted: true },
    { size: 1_000, sorted: true },
    { size: 1_000, sorted: true },
  ]);
});

it('a statement contains at most 4 Mi code units of text', async () => {
  const { proxy, repository } = await openBehindProxy();
  const created = [2_200_000, 2_200_000].map(async (length, index) =>
    repository.create({ id: BigInt(index), name: 'x'.repeat(length) }),
  );
  expect((await Promise.all(created)).every((one) => one.isOk())).toBe(true);
  // A statement whose response is late is sent again.
  expect(insertsOf(proxy).length).toBeGreaterThanOrEqual(created.length);
});

it('a create of a short plant reads no long one, and a long one is compared to its end', async () => {
  const { proxy, repository, direct } = await openBehindProxy();
  const long = '🪴'.repeat(100_000);
  await runSql(direct, `INSERT INTO plants VALUES (1, '${long}', '${long}')`);
  const before = proxy.bytesSent();
  expect((await repository.create({ id: 1n, name: '🪴' })).isErr()).toBe(true);
  expect(proxy.bytesSent() - before).toBeLessThan(10_000);
  expect((await repository.create({ id: 1n, name: long, tag: long })).isOk()).toBe(true);
  expect((await repository.create({ id: 1n, name: long, tag: `${long}!` })).isErr()).toBe(true);
});

it('a repository refuses creates beyond maxWaiting immediately, and stores the others', async () => {
  const { proxy, repository } = await openBehindProxy({ maxWaiting: 5 });
  proxy.freeze(true);
  const waiting = plantsFrom(0, 5).map(async (plant) => repository.create(plant));
  expect((await repository.create(monstera))._unsafeUnwrapErr().kind).toBe('store-unavailable');
  proxy.freeze(false);
  expect((await Promise.all(waiting)).every((one) => one.isOk())).toBe(true);
});

it('the insert is prepared once for each connection, independent of the batch size', async () => {
  const { proxy, repository } = await openBehindProxy();
  for (const [index, size] of [1, 2, 1_000].entries())
    await Promise.all(plantsFrom(index * 1_000, size).map(repository.create));
  expect(insertsOf(proxy).map(({ isParsed }) => isParsed)).toEqual([true, false, false]);
});

it.each<[string, StatementAction]>([
  ['the name is unknown', { error: '26000' }],
  ['the name is in use', { error: '42P05' }],
  ['the columns of its result changed', { error: '0A000' }],
  ['a pooler refuses it with a custom code', { error: '58000' }],
  ['a pooler refuses it and ends the connection', { error: '08P01', severity: 'FATAL' }],
])('the insert is unprepared on every connection after an error: %s', async (_, action) => {
  const { proxy, repository, direct } = await openBehindProxy();
  const plants = plantsFrom(0, 3);
  handleNext(proxy, /^INSERT/, action);
  for (const plant of plants) {
    expect((await repository.create(plant)).isOk()).toBe(true);
    proxy.resetAll();
  }
  expect(insertsOf(proxy).filter(({ name }) => name !== '')).toHaveLength(1);
  await expectStored(direct, plants);
});

it.each([
  'ALTER TABLE plants ALTER tag TYPE varchar, ALTER name TYPE varchar',
  'ALTER TABLE plants ADD planted timestamptz DEFAULT now()',
  `DROP TABLE plants; CREATE TABLE plants (${columnNames.map(declarationOf).toReversed().join(', ')})`,
])('the insert succeeds after %s', async (change) => {
  const { repository, direct } = await openBehindProxy();
  expect((await repository.create(monstera)).isOk()).toBe(true);
  await runSql(direct, ...change.split('; '));
  const plants = plantsFrom(10, 3);
  for (const plant of plants) expect((await repository.create(plant)).isOk()).toBe(true);
  await expectStored(direct, plants);
  const taken = await repository.create({ ...plants[0]!, name: 'other' });
  expect(taken._unsafeUnwrapErr().kind).toBe('id-taken');
});
