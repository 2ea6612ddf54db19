import type { NewPlant } from '@plantstore/core';
import { describe, expect, it } from 'vitest';
import { noLimits, newRole, openAndClose } from '../../test/open.ts';
import {
  connectionsOf,
  emptyDatabase,
  newDatabase,
  runSql,
  sharedUrl,
} from '../../test/shared-postgres.ts';
import type { OpenPostgresError } from '../open/errors.ts';
import { openPostgresRepository } from '../repository.ts';
import { readPlantBatches, readPlants } from './read-plants.ts';

const readAll = async (url: string, after?: bigint) => {
  const plants: NewPlant[] = [];
  const errors: OpenPostgresError[] = [];
  for await (const read of readPlants({ url, ...(after !== undefined && { after }) })) {
    if (read.isOk()) plants.push(read.value);
    else errors.push(read.error);
  }
  return { plants, errors };
};

const [smallest, largest] = [-(2n ** 63n), 2n ** 63n - 1n];
const extremes: NewPlant[] = [
  { id: smallest, name: '' },
  { id: -1n, name: 'e\u0301', tag: '' },
  { id: 0n, name: '🪴\n"' },
  { id: 2n ** 53n + 1n, name: 'Monstera', tag: 'NULL' },
  { id: largest, name: 'x'.repeat(100_000), tag: 'y'.repeat(100_000) },
];

describe('readPlants', () => {
  it('readPlants reads every plant exactly, in ascending order of the ids, while a repository is open', async () => {
    const url = sharedUrl(await emptyDatabase());
    const repository = (await openPostgresRepository({ url, ...noLimits }))._unsafeUnwrap();
    for (const plant of extremes.toReversed()) await repository.create(plant);
    expect(await readAll(url)).toEqual({ plants: extremes, errors: [] });
    expect((await readAll(url, -1n)).plants).toEqual(extremes.slice(2));
    expect((await readAll(url, largest)).plants).toEqual([]);
    await repository.close();
    await expect.poll(async () => connectionsOf(url)).toBe(0);
  });

  it('readPlants reads many plants, and long ones, in several batches', async () => {
    const url = sharedUrl(await emptyDatabase());
    await openAndClose(url);
    await runSql(
      url,
      `INSERT INTO plants (id, name, tag) SELECT id, 'plant ' || id, NULL FROM generate_series(1, 2500) id`,
      `INSERT INTO plants (id, name, tag) SELECT id, repeat('x', 3000000), repeat('y', 3000000) FROM generate_series(2501, 2502) id`,
    );
    const { plants, errors } = await readAll(url);
    expect(errors).toEqual([]);
    expect(plants.map(({ id }) => id)).toEqual(
      Array.from({ length: 2_502 }, (_, n) => BigInt(n + 1)),
    );
    expect(plants.at(-1)?.tag).toHaveLength(3_000_000);
  });

  it('readPlantBatches yields about 4 MiB of text at a time', async () => {
    const url = sharedUrl(await emptyDatabase());
    await openAndClose(url);
    await runSql(
      url,
      `INSERT INTO plants (id, name, tag) SELECT id, repeat('x', 1000000), repeat('y', 500000) FROM generate_series(1, 7) id`,
    );
    const sizes: number[] = [];
    for await (const read of readPlantBatches({ url })) sizes.push(read._unsafeUnwrap().length);
    // Three plants have more than 4 MiB.
    expect(sizes).toEqual([3, 3, 1]);
  });

  it.each([1_000, 1_001])(
    'readPlants ends with an error at an id that several rows have: %s',
    async (id) => {
      const url = sharedUrl(await emptyDatabase());
      await runSql(
        url,
        'CREATE TABLE plants (id bigint, name text NOT NULL, tag text)',
        "INSERT INTO plants SELECT id, 'x' FROM generate_series(1, 1500) AS id",
        `INSERT INTO plants VALUES (${id}, 'again')`,
      );
      const { plants, errors } = await readAll(url);
      expect(plants.length).toBeLessThan(id);
      expect(errors).toMatchObject([
        {
          kind: 'table-foreign',
          message: expect.stringContaining(`several rows with the id ${id}`) as unknown,
        },
      ]);
    },
  );

  it.each([
    ['dropped and restored', 'DROP TABLE plants; ', 'CREATE TABLE'],
    ['truncated', 'TRUNCATE plants; ', 'CREATE TABLE IF NOT EXISTS'],
    ['a view of a table that is truncated', 'TRUNCATE t; ', 'CREATE TABLE IF NOT EXISTS', 't'],
  ])('readPlants ends with an error when its table is %s meanwhile', async (...row) => {
    const [, remove, create, table = 'plants'] = row;
    const url = sharedUrl(await emptyDatabase());
    const dump = `${table} (id bigint PRIMARY KEY, name text NOT NULL, tag text);
        INSERT INTO ${table} SELECT id, 'x' FROM generate_series(1, 3000) AS id`;
    await runSql(url, `CREATE TABLE ${dump}`);
    if (table !== 'plants') await runSql(url, `CREATE VIEW plants AS SELECT * FROM ${table}`);
    const kinds: string[] = [];
    for await (const page of readPlantBatches({ url })) {
      if (kinds.length === 0) await runSql(url, `${remove}${create} ${dump}`);
      kinds.push(page.isOk() ? 'page' : page.error.kind);
    }
    expect(kinds).toEqual(['page', 'page', 'page', 'table-changed']);
  });

  it.each(['id', 'name'])(
    'readPlants refuses a table with a row that has no %s',
    async (column) => {
      const url = sharedUrl(await emptyDatabase());
      await runSql(
        url,
        'CREATE TABLE plants (id bigint, name text, tag text)',
        "INSERT INTO plants VALUES (7, 'Monstera')",
      );
      const monstera = { id: 7n, name: 'Monstera' };
      expect(await readAll(url)).toEqual({ plants: [monstera], errors: [] });
      await runSql(
        url,
        `INSERT INTO plants SELECT 8, 'Ficus'`,
        `UPDATE plants SET ${column} = NULL WHERE id = 8`,
      );
      const { plants, errors } = await readAll(url);
      expect([plants, errors]).toEqual([
        [],
        [
          expect.objectContaining({
            kind: 'table-foreign',
            message: expect.stringContaining('rows where id IS NULL OR name IS NULL') as unknown,
          }),
        ],
      ]);
    },
  );

  it('readPlants requires only the SELECT privilege', async () => {
    const database = await newDatabase();
    await openAndClose(sharedUrl(database));
    const role = await newRole(database);
    await runSql(
      sharedUrl(database),
      `INSERT INTO plants (id, name, tag) VALUES (7, 'Monstera', NULL)`,
      `GRANT SELECT ON plants TO ${role.user}`,
    );
    const { plants, errors } = await readAll(sharedUrl(database, role));
    expect([plants, errors]).toEqual([[{ id: 7n, name: 'Monstera' }], []]);
  });

  it('readPlants yields an error when it cannot read, and creates no table', async () => {
    const database = await emptyDatabase();
    const url = sharedUrl(database);
    for (const _ of ['first', 'again']) {
      const { plants, errors } = await readAll(url);
      expect(plants).toEqual([]);
      expect(errors).toMatchObject([
        {
          kind: 'table-missing',
          message: expect.stringContaining(`no table plants in ${database}`),
        },
      ]);
    }
    expect((await readAll('postgres://ada@127.0.0.1:1/garden')).errors).toMatchObject([
      { kind: 'unreachable' },
    ]);
    expect((await readAll('postgres://[')).errors).toMatchObject([{ kind: 'url-invalid' }]);
  });
});
