import {
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { beforeEach, expect, it } from 'vitest';
import { otherProgram } from '../../test/other-program.ts';
import { makeStore, plants } from '../../test/store-file.ts';
import { backUpPlants } from '../read/back-up-plants.ts';
import { checkPlants } from '../read/check-plants.ts';
import { openSqliteRepository, type SqliteRepository } from '../repository.ts';

const connectOther = otherProgram();

let path = '';
let backup = '';
let older = '';
let repository: SqliteRepository;

const createAll = async (from: number, to: number) => {
  const creating = plants(from, to).map(async (plant) => repository.create(plant));
  for (const created of await Promise.all(creating)) created._unsafeUnwrap();
};

/** Opens a file with 2,000 plants, of which the WAL file has the last 1,000. */
beforeEach(async () => {
  const folder = await makeFolder();
  [path, backup] = [join(folder, 'plants.db'), join(folder, 'backup.db')];
  older = join(folder, 'older.db');
  makeStore(path, plants(0, 1_000));
  copyFileSync(path, older);
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
  ['it was shortened', () => truncateSync(path, statSync(path).size - 8_192)],
])('an open file acknowledges no plant after %s, and the WAL file stays', async (_, act) => {
  act();
  await failToCreate(/plants\.db was overwritten or shortened while it was in use, and the newest/);
  expect((await openSqliteRepository({ path })).isErr()).toBe(true);
});

it.each(['PASSIVE', 'TRUNCATE'])(
  'an open file acknowledges no plant after an older copy of it was copied over it and a checkpoint (%s), and the WAL file stays',
  async (mode) => {
    const other = connectOther(path);
    await other.run(`PRAGMA wal_checkpoint(${mode})`);
    await createAll(2_000, 2_001);
    copyFileSync(older, path);
    await failToCreate(/plants\.db was overwritten or shortened while it was in use/);
  },
);

it('an open file acknowledges no plant after an older copy was copied over it before the first plant', async () => {
  await repository.close();
  repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
  copyFileSync(older, path);
  await failToCreate(/plants\.db was overwritten or shortened while it was in use/);
});

it.each([0, 100, 50_000])(
  'an open file acknowledges no plant after its WAL file was shortened to %i bytes, and keeps the others',
  async (size) => {
    truncateSync(`${path}-wal`, size);
    await failToCreate(
      /plants\.db-wal was shortened while it was in use, and plants that only it had/,
    );
    expect(checkPlants(path)._unsafeUnwrap().plants).toBeGreaterThanOrEqual(1_000);
    makeStore(path, plants(0, 1_000));
  },
);

it.each(['-wal', '-shm'])(
  'an open file acknowledges no plant after an older copy of its %s file was copied over that, and keeps the others',
  async (suffix) => {
    const copy = readFileSync(path + suffix);
    const other = connectOther(path);
    await other.run('PRAGMA wal_checkpoint(RESTART)');
    await other.close();
    await createAll(2_000, 2_001);
    writeFileSync(path + suffix, copy, { flag: 'r+' });
    await failToCreate(
      /plants\.db-wal or -shm was overwritten while it was in use, and plants that only/,
    );
    rmSync(`${path}-wal`);
    expect(checkPlants(path)._unsafeUnwrap()).toMatchObject({ plants: 2_000, damage: [] });
  },
);

it('an open file acknowledges no plant after frames of its WAL file cannot be read, and keeps the others', async () => {
  const other = connectOther(path);
  // Pages are read again after it.
  await other.run('CREATE INDEX tags ON plants (tag)');
  await other.close();
  const wal = openSync(`${path}-wal`, 'r+');
  writeSync(wal, Buffer.alloc(500_000), 0, 500_000, 32 + 4_120);
  closeSync(wal);
  await failToCreate(/plants\.db-wal or -shm was overwritten while it was in use/);
  rmSync(`${path}-wal`);
  expect(checkPlants(path)._unsafeUnwrap()).toMatchObject({ plants: 1_000, damage: [] });
});

const steps = [
  'VACUUM',
  'PRAGMA wal_checkpoint(PASSIVE)',
  'PRAGMA wal_checkpoint(FULL)',
  'PRAGMA wal_checkpoint(RESTART)',
  'PRAGMA wal_checkpoint(TRUNCATE)',
  'DELETE FROM plants WHERE id < 1500',
  "INSERT INTO plants VALUES (-1, 'of another program', NULL) ON CONFLICT DO NOTHING",
  'PRAGMA journal_size_limit = 0',
];

it.each(steps)(
  'an open file accepts plants after each two statements of another program that begin with %s',
  async (first) => {
    const other = connectOther(path);
    let id = 3_000;
    for (const second of steps) {
      for (const step of [first, second, first]) {
        await other.run(step);
        await createAll(id, id + 1);
        id += 1;
      }
      await createAll(id, id + 100);
      id += 100;
    }
    await other.close();
    await repository.close();
    expect(checkPlants(path)._unsafeUnwrap().damage).toEqual([]);
  },
);
