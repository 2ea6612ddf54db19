import { readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NewPlant } from '@plantstore/core';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { makeStore, plants as plantsFrom } from '../../test/store-file.ts';
import { Database } from '../open/connection.ts';
import { openSqliteRepository, type SqliteRepository } from '../repository.ts';
import { backUpPlants } from './back-up-plants.ts';
import { readPlantBatches, readPlants } from './read-plants.ts';

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await makeFolder();
  path = join(folder, 'plants.db');
});

/** Opens a repository on a file with plants. */
const openStore = async (stored: readonly NewPlant[]) => {
  makeStore(path, stored);
  const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
  onTestFinished(async () => void (await repository.close()));
  return repository;
};

const readAll = async (after?: bigint) => {
  const plants: NewPlant[] = [];
  const errors: string[] = [];
  for await (const read of readPlants({ path, ...(after !== undefined && { after }) })) {
    if (read.isOk()) plants.push(read.value);
    else errors.push(read.error.kind);
  }
  return { plants, errors };
};

/** Returns the sizes of the batches, and the kinds of the errors. Acts after the first ones. */
const readSizes = async (...acts: (() => Promise<unknown>)[]) => {
  const sizes: (number | string)[] = [];
  for await (const read of readPlantBatches({ path })) {
    sizes.push(read.isOk() ? read.value.length : read.error.kind);
    await acts.shift()?.();
  }
  return sizes;
};

const emptyWal = () => {
  const other = new Database(path);
  other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  other.close();
};

const [smallest, largest] = [-(2n ** 63n), 2n ** 63n - 1n];
const extremes: NewPlant[] = [
  { id: smallest, name: '' },
  { id: -1n, name: 'e\u0301', tag: '' },
  { id: 0n, name: '🪴\n"' },
  { id: 2n ** 53n + 1n, name: 'Monstera', tag: 'NULL' },
  { id: largest, name: 'x'.repeat(100_000), tag: 'y'.repeat(100_000) },
];
const many = Array.from({ length: 2_500 }, (_, id) => ({ id: BigInt(id), name: `plant ${id}` }));

const page = 4_096;

it('readPlants reads every plant unchanged, in ascending order of the ids, while the repository is open', async () => {
  const repository = await openStore([]);
  await Promise.all(extremes.toReversed().map(async (plant) => repository.create(plant)));
  expect(await readAll()).toEqual({ plants: extremes, errors: [] });
  expect((await readAll(-1n)).plants).toEqual(extremes.slice(2));
  expect((await readAll(largest)).plants).toEqual([]);
});

it('readPlantBatches yields 1,000 plants or 1 Mi code units at a time, and other work of the process runs between', async () => {
  makeStore(path, many);
  let hasRun = false;
  setImmediate(() => (hasRun = true));
  expect(await readSizes()).toEqual([1_000, 1_000, 500]);
  expect(hasRun).toBe(true);
  const name = 'x'.repeat(400_000);
  makeStore(path, plantsFrom(2_500, 2_506, name));
  expect(await readSizes()).toEqual([1_000, 1_000, 503, 3]);
});

it('readPlants yields an error for a damaged page after the plants before it, and can read those after it', async () => {
  makeStore(path, many);
  const bytes = await readFile(path);
  const middle = Math.floor(bytes.length / page / 2) * page;
  await writeFile(path, bytes.fill(0xff, middle, middle + page));
  const { plants, errors } = await readAll();
  expect(errors).toEqual(['damaged']);
  expect(plants).toEqual(many.slice(0, plants.length));
  expect(plants.length).toBeLessThan(many.length);
  expect(plants.length).toBeGreaterThan(1_000);
  expect((await readAll(2_400n)).plants).toEqual(many.slice(2_401));
});

it('readPlants reads plants that are created meanwhile, prevents no checkpoint, and closes the file when the caller ends the loop', async () => {
  const repository = await openStore(many);
  const ids: bigint[] = [];
  for await (const read of readPlants({ path })) {
    const { id } = read._unsafeUnwrap();
    ids.push(id);
    if (id === 1_500n) await repository.create({ id: 5_000n, name: 'later' });
  }
  expect(ids).toEqual([...many.map((plant) => plant.id), 5_000n]);
  for await (const read of readPlants({ path })) if (read.isOk()) break;
  expect(await repository.close()).toEqual({ walLeft: undefined });
  // The last connection that is closed removes it.
  await expect(stat(`${path}-wal`)).rejects.toThrow('ENOENT');
});

// A batch has the rows of several pages, or four of the seven rows of one.
it.each([
  ['short', many.slice(0, 1_300)],
  ['long', plantsFrom(0, 30, 'x'.repeat(2 ** 18))],
])(
  'readPlants never ends without an error when a page of the file has the content of another one (%s names)',
  async (_names, stored) => {
    makeStore(path, stored);
    const sound = await readFile(path);
    const pages = Array.from({ length: sound.length / page }, (_, index) => index * page);
    const leaves = pages.filter((at) => sound[at] === 13);
    expect(leaves.length).toBeGreaterThan(3);
    const pairs = leaves.flatMap((from) => leaves.map((to) => [from, to] as const));
    for (const [from, to] of pairs) {
      const bytes = Buffer.from(sound);
      sound.copy(bytes, to, from, from + page);
      await writeFile(path, bytes);
      const { errors } = await readAll();
      expect([from, to, errors]).toEqual([from, to, from === to ? [] : ['damaged']]);
    }
  },
);

it.each([
  ['a backup is copied over it', async (other: string) => writeFile(path, await readFile(other))],
  [
    'another database is copied over it',
    async () => {
      makeStore(join(folder, 'other.db'), many.slice(1_000));
      await writeFile(path, await readFile(join(folder, 'other.db')));
    },
  ],
  ['it is emptied', async () => truncate(path)],
])('readPlants ends with an error when a file at rest is read and %s', async (_, act) => {
  makeStore(path, many);
  const backup = join(folder, 'backup.db');
  (await backUpPlants({ from: path, to: backup }))._unsafeUnwrap();
  expect(await readSizes(async () => act(backup))).toEqual([1_000, 'overwritten-while-read']);
});

it('readPlants ends with an error when a file is overwritten to which a plant was added meanwhile', async () => {
  makeStore(path, many);
  const before = await readFile(path);
  const add = async () => {
    makeStore(path, [{ id: 9_000n, name: 'last' }]);
    emptyWal();
  };
  const overwrite = async () => writeFile(path, before);
  expect(await readSizes(add, overwrite)).toEqual([1_000, 1_000, 'overwritten-while-read']);
});

it.each([
  ['replaced by a backup', async () => rename(join(folder, 'backup.db'), path)],
  ['hidden with its folder', async () => rename(folder, `${folder}.away`)],
])('readPlants reads every plant of a file that is %s meanwhile', async (_, act) => {
  makeStore(path, many);
  (await backUpPlants({ from: path, to: join(folder, 'backup.db') }))._unsafeUnwrap();
  expect(await readSizes(act)).toEqual([1_000, 1_000, 500]);
  await rm(`${folder}.away`, { recursive: true, force: true });
});

it('readPlants reads every plant while a repository is opened, used and closed, with checkpoints between', async () => {
  makeStore(path, many);
  const steps = [
    async () => (repository = (await openSqliteRepository({ path }))._unsafeUnwrap()),
    async () => repository?.create({ id: 9_000n, name: 'last' }),
    async () => emptyWal(),
    async () => repository?.close(),
    async () => makeStore(path, [{ id: 9_001n, name: 'after' }]),
  ];
  let repository: SqliteRepository | undefined;
  const ids: bigint[] = [];
  for await (const read of readPlants({ path })) {
    ids.push(read._unsafeUnwrap().id);
    if (ids.length % 1_000 === 500) await steps.shift()?.();
    if (ids.length === 2_500) for (const step of steps.splice(0)) await step();
  }
  expect(ids.slice(0, 2_500)).toEqual(many.map(({ id }) => id));
});
