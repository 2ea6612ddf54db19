import type { NewPlant } from '@plantstore/core';
import { expect, it } from 'vitest';
import { open } from '../../test/open.ts';
import { connectionsOf, emptyDatabase, runSql, sharedUrl } from '../../test/shared-postgres.ts';
import type { OpenPostgresError } from '../open/errors.ts';
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

const newWith = async (...statements: readonly string[]) => {
  const url = sharedUrl(await emptyDatabase());
  await runSql(url, ...statements);
  return url;
};
const columns = '(id bigint PRIMARY KEY, name text NOT NULL, tag text)';

it('readPlants reads every plant exactly, in ascending order of the ids, while a repository is open', async () => {
  const url = sharedUrl(await emptyDatabase());
  const repository = await open(url);
  const largest = 2n ** 63n - 1n;
  const extremes: NewPlant[] = [
    { id: -(2n ** 63n), name: '' },
    { id: -1n, name: 'e\u0301', tag: '' },
    { id: 0n, name: '🪴\n"' },
    { id: 2n ** 53n + 1n, name: 'Monstera', tag: 'NULL' },
    { id: largest, name: 'x'.repeat(100_000), tag: 'y'.repeat(100_000) },
  ];
  for (const plant of extremes.toReversed()) await repository.create(plant);
  expect(await readAll(url)).toEqual({ plants: extremes, errors: [] });
  expect((await readAll(url, -1n)).plants).toEqual(extremes.slice(2));
  expect((await readAll(url, largest)).plants).toEqual([]);
  await repository.close();
  await expect.poll(async () => connectionsOf(url)).toBe(0);
});

it('readPlantBatches yields at most 1,000 plants, and about 4 MiB of text, at a time', async () => {
  const url = await newWith(
    `CREATE TABLE plants ${columns}`,
    `INSERT INTO plants SELECT id, 'plant ' || id FROM generate_series(1, 2500) id`,
    `INSERT INTO plants SELECT id, repeat('x', 1000000), repeat('y', 500000) FROM generate_series(2501, 2507) id`,
  );
  const sizes: number[] = [];
  const ids: bigint[] = [];
  for await (const read of readPlantBatches({ url })) {
    const plants = read._unsafeUnwrap();
    sizes.push(plants.length);
    ids.push(...plants.map(({ id }) => id));
  }
  // Three long plants have more than 4 MiB.
  expect(sizes).toEqual([1_000, 1_000, 503, 3, 1]);
  expect(ids).toEqual(Array.from({ length: 2_507 }, (_, n) => BigInt(n + 1)));
});

it.each([1_000, 1_001])(
  'readPlants ends with an error at an id that several rows have: %s',
  async (id) => {
    const url = await newWith(
      'CREATE TABLE plants (id bigint, name text NOT NULL, tag text)',
      "INSERT INTO plants SELECT id, 'x' FROM generate_series(1, 1500) AS id",
      `INSERT INTO plants VALUES (${id}, 'again')`,
    );
    const { plants, errors } = await readAll(url);
    expect(plants.length).toBeLessThan(id);
    const message = expect.stringContaining(`several rows with the id ${id}`) as unknown;
    expect(errors).toMatchObject([{ kind: 'table-foreign', message }]);
  },
);

it.each([
  ['dropped and restored', 'DROP TABLE plants; CREATE TABLE', 'plants'],
  ['truncated', 'TRUNCATE plants; CREATE TABLE IF NOT EXISTS', 'plants'],
  ['a view of a table that is truncated', 'TRUNCATE t; CREATE TABLE IF NOT EXISTS', 't'],
])('readPlants ends with an error when its table is %s meanwhile', async (_, replace, table) => {
  const dump = `${table} ${columns};
      INSERT INTO ${table} SELECT id, 'x' FROM generate_series(1, 3000) AS id`;
  const url = await newWith(`CREATE TABLE ${dump}`);
  if (table !== 'plants') await runSql(url, `CREATE VIEW plants AS SELECT * FROM ${table}`);
  const kinds: string[] = [];
  for await (const page of readPlantBatches({ url })) {
    if (kinds.length === 0) await runSql(url, `${replace} ${dump}`);
    kinds.push(page.isOk() ? 'page' : page.error.kind);
  }
  expect(kinds).toEqual(['page', 'page', 'page', 'table-changed']);
});

it('readPlants refuses a table with a row that has no id or no name', async () => {
  const url = await newWith(
    'CREATE TABLE plants (id bigint, name text, tag text)',
    "INSERT INTO plants VALUES (7, 'Monstera')",
  );
  const plants = [{ id: 7n, name: 'Monstera' }];
  expect(await readAll(url)).toEqual({ plants, errors: [] });
  const message = expect.stringContaining('rows where id IS NULL OR name IS NULL') as unknown;
  for (const row of ["NULL, 'Ficus'", '8, NULL']) {
    await runSql(url, `DELETE FROM plants WHERE id IS NULL`, `INSERT INTO plants VALUES (${row})`);
    const { plants: read, errors } = await readAll(url);
    expect([read, errors]).toEqual([
      [],
      [expect.objectContaining({ kind: 'table-foreign', message })],
    ]);
  }
});

it('readPlants yields an error when it cannot read, and creates no table', async () => {
  const url = await newWith();
  for (const [of, kind] of [
    [url, 'table-missing'],
    [url, 'table-missing'],
    ['postgres://ada@127.0.0.1:1/garden', 'unreachable'],
    ['postgres://[', 'url-invalid'],
  ] as const)
    expect(await readAll(of)).toMatchObject({ plants: [], errors: [{ kind }] });
});
