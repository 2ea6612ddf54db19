import { copyFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { beforeEach, expect, it } from 'vitest';
import { connectOther } from '../../test/other-program.ts';
import { makeStore, plants } from '../../test/store-file.ts';
import { backUpPlants } from '../read/back-up-plants.ts';
import { checkPlants } from '../read/check-plants.ts';
import { openSqliteRepository, type SqliteRepository } from '../repository.ts';

let path = '';
let backup = '';
let repository: SqliteRepository;

const createAll = async (from: number, to: number) => {
  const creating = plants(from, to).map(async (plant) => repository.create(plant));
  for (const created of await Promise.all(creating)) created._unsafeUnwrap();
};

/** Opens a file with 2,000 plants, of which the WAL file has the last 1,000. */
beforeEach(async () => {
  const folder = await makeFolder();
  [path, backup] = [join(folder, 'plants.db'), join(folder, 'backup.db')];
  makeStore(path, plants(0, 1_000));
  (await backUpPlants({ from: path, to: backup }))._unsafeUnwrap();
  repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
  await createAll(1_000, 2_000);
});

const sizes = () => [statSync(path).size, statSync(`${path}-wal`).size];

/** Creates plants, which are refused, and closes the repository, which changes no file. */
const failToCreate = async (reason: RegExp) => {
  const before = [readFileSync(path), sizes()];
  for (const id of [5_000n, 5_001n]) {
    const created = await repository.create({ id, name: 'Monstera' });
    const expected = {
      kind: 'store-unavailable',
      reason: expect.stringMatching(reason) as unknown,
    };
    expect(created._unsafeUnwrapErr()).toEqual(expected);
  }
  expect((await repository.check()).isErr()).toBe(true);
  await repository.close();
  expect([readFileSync(path), sizes()]).toEqual(before);
};

it.each<[string, () => void]>([
  ['a backup was copied over it', () => copyFileSync(backup, path)],
  ['a backup was written into it', () => writeFileSync(path, readFileSync(backup), { flag: 'r+' })],
  ['it was emptied', () => truncateSync(path)],
])('an open file acknowledges no plant after %s, and the WAL file stays', async (_, act) => {
  act();
  await failToCreate(/plants\.db was overwritten while it was in use, and its newest/);
  expect((await openSqliteRepository({ path })).isErr()).toBe(true);
});

it.each<[string, () => void]>([
  ['emptied', () => truncateSync(`${path}-wal`)],
  ['shortened by a byte', () => truncateSync(`${path}-wal`, statSync(`${path}-wal`).size - 1)],
  ['overwritten by an older copy', () => copyFileSync(`${path}-wal.older`, `${path}-wal`)],
])('an open file acknowledges no plant after its WAL file was %s', async (_, act) => {
  copyFileSync(`${path}-wal`, `${path}-wal.older`);
  await createAll(2_000, 3_000);
  act();
  await failToCreate(
    /plants\.db-wal was overwritten or shortened while it was in use, and has lost/,
  );
  rmSync(`${path}-wal`);
  expect(checkPlants(path)._unsafeUnwrap()).toMatchObject({ plants: 1_000, damage: [] });
});

it('an open file accepts plants after each statement of another program', async () => {
  const steps = [
    'VACUUM',
    'PRAGMA wal_checkpoint(PASSIVE)',
    'PRAGMA wal_checkpoint(RESTART)',
    'PRAGMA wal_checkpoint(TRUNCATE)',
    'DELETE FROM plants WHERE id < 1500',
    "INSERT INTO plants VALUES (-1, 'of another program', NULL) ON CONFLICT DO NOTHING",
    'PRAGMA journal_size_limit = 0',
  ];
  const other = connectOther(path);
  let id = 3_000;
  for (const step of [...steps, ...steps.toReversed()]) {
    expect([step, other.run(step)]).toEqual([step, expect.any(Array)]);
    for (const size of [1, 10]) await createAll(id, (id += size));
  }
  // Without the plants that were created last.
  for (const step of ['DELETE FROM plants', 'PRAGMA wal_checkpoint(TRUNCATE)']) other.run(step);
  await createAll(id, id + 10);
  other.close();
  await repository.close();
  expect(checkPlants(path)._unsafeUnwrap().damage).toEqual([]);
});
