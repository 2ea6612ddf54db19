import {
  open as openFile,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import type { NewPlant } from '@plantstore/core';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { makeStore, plants as plantsFrom } from '../../test/store-file.ts';
import { Database } from '../open/connection.ts';
import type { OpenSqliteError } from '../open/errors.ts';
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
  const errors: OpenSqliteError[] = [];
  for await (const read of readPlants({ path, ...(after !== undefined && { after }) })) {
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
/** Overwrites a page in the middle of the file. */
const damagePage = async () => {
  const file = await openFile(path, 'r+');
  const page = 4_096;
  const middle = Math.floor((await file.stat()).size / page / 2) * page;
  await file.write(Buffer.alloc(page, 0xff), 0, page, middle);
  await file.close();
};

const many = Array.from({ length: 2_500 }, (_, id) => ({ id: BigInt(id), name: `plant ${id}` }));

describe('readPlants', () => {
  it('readPlants reads every plant unchanged, in ascending order of the ids, while the repository is open', async () => {
    const repository = await openStore([]);
    await Promise.all(extremes.toReversed().map(async (plant) => repository.create(plant)));
    expect(await readAll()).toEqual({ plants: extremes, errors: [] });
    expect((await readAll(-1n)).plants).toEqual(extremes.slice(2));
    expect((await readAll(largest)).plants).toEqual([]);
  });

  it('readPlants reads more plants than fit into one batch, and the plants after an id', async () => {
    makeStore(path, many);
    expect((await readAll()).plants).toEqual(many);
    expect((await readAll(1_999n)).plants).toEqual(many.slice(2_000));
  });

  it('readPlantBatches yields 1,000 plants at a time, and the plants before a damaged page', async () => {
    makeStore(path, many);
    const sizes = async () => {
      const all: (number | string)[] = [];
      for await (const read of readPlantBatches({ path }))
        all.push(read.isOk() ? read.value.length : read.error.kind);
      return all;
    };
    expect(await sizes()).toEqual([1_000, 1_000, 500]);
    const { length } = (await damagePage().then(async () => readAll())).plants;
    expect(await sizes()).toEqual([1_000, length - 1_000, 'damaged']);
  });

  it('readPlantBatches bounds the text of a batch', async () => {
    const long = Array.from({ length: 5 }, (_, id) => ({
      id: BigInt(id),
      name: 'x'.repeat(400_000),
      tag: 'y',
    }));
    makeStore(path, long);
    const batches: (readonly NewPlant[])[] = [];
    for await (const read of readPlantBatches({ path })) batches.push(read._unsafeUnwrap());
    expect(batches).toEqual([long.slice(0, 3), long.slice(3)]);
  });

  it('readPlants lets other work of the process run between its batches', async () => {
    makeStore(path, many);
    let hasRun = false;
    setImmediate(() => {
      hasRun = true;
    });
    expect((await readAll()).plants).toHaveLength(many.length);
    expect(hasRun).toBe(true);
  });

  it('readPlants reads plants that are created meanwhile, and does not prevent checkpoints', async () => {
    const repository = await openStore(many);
    const ids: bigint[] = [];
    for await (const read of readPlants({ path })) {
      const { id } = read._unsafeUnwrap();
      ids.push(id);
      if (id === 1_500n) await repository.create({ id: 5_000n, name: 'later' });
    }
    expect(ids).toEqual([...many.map((plant) => plant.id), 5_000n]);
    expect(await repository.close()).toEqual({ walLeft: undefined });
  });

  it('readPlants closes the file when the caller ends the loop early', async () => {
    const repository = await openStore(many);
    for await (const read of readPlants({ path })) if (read.isOk()) break;
    expect(await repository.close()).toEqual({ walLeft: undefined });
    // The last connection that is closed removes it.
    await expect(stat(`${path}-wal`)).rejects.toThrow('ENOENT');
  });

  it.each([
    ['1,000 plants', many, 1_000],
    [
      'a plant of 1 Mi code units',
      many.slice(0, 3).map(({ id }) => ({ id, name: 'x'.repeat(2 ** 20) })),
      1,
    ],
  ])('readPlants keeps at most %s in memory', async (_, plants, kept) => {
    makeStore(path, plants);
    let count = 0;
    for await (const read of readPlants({ path })) {
      if (count === 0) {
        const other = new Database(path);
        other.exec(`DELETE FROM plants WHERE id >= ${kept}`);
        other.close();
      }
      expect(read.isOk()).toBe(true);
      count += 1;
    }
    expect(count).toBe(kept);
  });

  // A batch has the rows of several pages, or four of the seven rows of one.
  it.each([
    ['short', many, 10],
    ['long', plantsFrom(0, 40, 'x'.repeat(2 ** 18)), 4],
  ])(
    'readPlants never ends without an error when a page of the file has the content of another one (%s names)',
    async (_names, stored, pages) => {
      makeStore(path, stored);
      const sound = await readFile(path);
      const page = 4_096;
      const leaves = Array.from({ length: sound.length / page }, (_, index) => index * page).filter(
        (at) => sound[at] === 13,
      );
      expect(leaves.length).toBeGreaterThan(pages);
      const pairs = leaves.flatMap((from) => leaves.map((to) => [from, to] as const));
      for (const [from, to] of pairs) {
        const bytes = Buffer.from(sound);
        sound.copy(bytes, to, from, from + page);
        await writeFile(path, bytes);
        const { errors } = await readAll();
        const expected = from === to ? [] : ['damaged'];
        expect([from, to, errors.map(({ kind }) => kind)]).toEqual([from, to, expected]);
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
    const seen: unknown[] = [];
    for await (const read of readPlantBatches({ path })) {
      seen.push(
        read.match(
          ({ length }) => length,
          ({ kind, message }) => ({ kind, message }),
        ),
      );
      if (seen.length === 1) await act(backup);
    }
    const message = `${path} was overwritten while it was read; run it again`;
    expect(seen).toEqual([1_000, { kind: 'overwritten', message }]);
  });

  it.each([
    ['removed', async () => rm(path)],
    ['replaced by a backup', async () => rename(join(folder, 'backup.db'), path)],
    ['hidden with its folder', async () => rename(folder, `${folder}.away`)],
  ])('readPlants reads every plant of a file that is %s meanwhile', async (_, act) => {
    makeStore(path, many);
    (await backUpPlants({ from: path, to: join(folder, 'backup.db') }))._unsafeUnwrap();
    const ids: bigint[] = [];
    for await (const read of readPlants({ path })) {
      ids.push(read._unsafeUnwrap().id);
      if (ids.length === 500) await act();
    }
    expect(ids).toEqual(many.map(({ id }) => id));
    await rm(`${folder}.away`, { recursive: true, force: true });
  });

  it('readPlants reads every plant while a repository is opened, used and closed, with checkpoints between', async () => {
    makeStore(path, many);
    const steps = [
      async () => (repository = (await openSqliteRepository({ path }))._unsafeUnwrap()),
      async () => repository?.create({ id: 9_000n, name: 'last' }),
      async () => {
        const other = new Database(path);
        other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
        other.close();
      },
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

  it('readPlants yields an error for a damaged page, and can read the plants after it', async () => {
    makeStore(path, many);
    await damagePage();
    const { plants, errors } = await readAll();
    expect(errors.map(({ kind }) => kind)).toEqual(['damaged']);
    expect(plants.length).toBeLessThan(many.length);
    expect(plants).toEqual(many.slice(0, plants.length));
    expect((await readAll(2_400n)).plants).toEqual(many.slice(2_401));
  });

  it.each([
    ['is missing', async () => {}, 'missing'],
    ['is empty', async () => writeFile(path, ''), 'empty'],
    ['is not a database', async () => writeFile(path, 'buy milk\n'.repeat(100)), 'not-a-database'],
    [
      'is a folder',
      async () => rm(path, { force: true }).then(() => (path = folder)),
      'cannot-open',
    ],
  ])('readPlants yields one error for a file that %s', async (_, make, kind) => {
    await make();
    const { plants, errors } = await readAll();
    expect(plants).toEqual([]);
    expect(errors).toMatchObject([
      { kind, path, message: expect.stringContaining(path) as unknown },
    ]);
  });
});
