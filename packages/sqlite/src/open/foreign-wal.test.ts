import { copyFile, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { beforeEach, describe, expect, it } from 'vitest';
import { runInOtherProgram } from '../../test/other-program.ts';
import { countPlants, makeStore, openInThisThread, plants } from '../../test/store-file.ts';
import { backUpPlants } from '../read/back-up-plants.ts';
import { checkPlants } from '../read/check-plants.ts';
import { readPlants } from '../read/read-plants.ts';
import { openSqliteRepository } from '../repository.ts';

let folder = '';
beforeEach(async () => {
  folder = await makeFolder();
});
const inFolder = (name: string) => join(folder, name);

/** Creates a store with plants, and copies its open files, which are the same after a `kill -9`. */
const copyKilled = async (to: string, count: number) => {
  const store = openInThisThread(inFolder('plants.db'));
  store.createAll(plants(0, count));
  for (const suffix of ['', '-wal']) await copyFile(inFolder(`plants.db${suffix}`), to + suffix);
  store.close();
};

/** Expects that the files are refused, and not changed. */
const expectRefusal = async (path: string) => {
  const read = async () =>
    Promise.all([path, `${path}-wal`].map(async (file) => readFile(file).catch(() => 'missing')));
  const before = await read();
  expect((await openSqliteRepository({ path }))._unsafeUnwrapErr()).toMatchObject({
    kind: 'wal-of-another-file',
    message: `${path}-wal has plants, but ${path} is missing, empty or a backup, and opening both would lose plants; put the file back that was beside it, or move both to another folder, keep them, and restore a backup`,
  });
  // Neither is it read; a missing or empty file has nothing to read.
  if ((await stat(path).catch(() => undefined))?.size)
    expect(checkPlants(path)._unsafeUnwrapErr().kind).toBe('wal-of-another-file');
  expect(await read()).toEqual(before);
};

describe('WAL file of another database', () => {
  it.each([
    ['older, by one plant', 599, 600],
    ['newer', 600, 100],
  ])(
    'a WAL file of another database is refused beside a backup that is %s, and opens after its removal',
    async (_, inBackup, inWal) => {
      const backup = inFolder('backup.db');
      makeStore(inFolder('source.db'), plants(0, inBackup));
      (await backUpPlants({ from: inFolder('source.db'), to: backup }))._unsafeUnwrap();
      await copyKilled(inFolder('killed.db'), inWal);
      await copyFile(inFolder('killed.db-wal'), `${backup}-wal`);
      await expectRefusal(backup);
      await rm(`${backup}-wal`);
      expect(countPlants(backup)).toBe(inBackup);
    },
  );

  it('a WAL file of another database is refused beside a backup that was copied over the file after its use in the same process', async () => {
    const path = inFolder('killed.db');
    await copyKilled(path, 600);
    const wal = await readFile(`${path}-wal`);
    const backup = inFolder('backup.db');
    (await backUpPlants({ from: path, to: backup }))._unsafeUnwrap();
    expect(checkPlants(path).isOk()).toBe(true);
    for await (const read of readPlants({ path })) expect(read.isOk()).toBe(true);
    runInOtherProgram(path, 'CREATE UNIQUE INDEX names ON plants (id)');
    expect((await openSqliteRepository({ path })).isErr()).toBe(true);
    await copyFile(backup, path);
    await writeFile(`${path}-wal`, wal);
    await expectRefusal(path);
  });

  it.each(['missing', 'empty'])(
    'a WAL file is refused when the database file is %s',
    async (state) => {
      const path = inFolder('killed.db');
      await copyKilled(path, 500);
      if (state === 'empty') await truncate(path);
      else await rm(path);
      await expectRefusal(path);
    },
  );
});

it('a check and a backup release no lock of a repository, nor of a reader, in the same process', async () => {
  const isLocked = (path: string) =>
    expect(runInOtherProgram(path, 'PRAGMA journal_mode = DELETE')).toBe('database is locked');
  const path = inFolder('killed.db');
  await copyKilled(path, 2_000);
  const reading = readPlants({ path });
  expect((await reading.next()).value?.isOk()).toBe(true);
  expect(checkPlants(path).isOk()).toBe(true);
  (await backUpPlants({ from: path, to: inFolder('first.db') }))._unsafeUnwrap();
  isLocked(path);
  await reading.return();
  const store = (await openSqliteRepository({ path }))._unsafeUnwrap();
  await store.create({ id: 7n, name: 'Monstera' });
  expect(checkPlants(path).isOk()).toBe(true);
  (await backUpPlants({ from: path, to: inFolder('second.db') }))._unsafeUnwrap();
  isLocked(path);
  expect((await openSqliteRepository({ path }))._unsafeUnwrapErr().kind).toBe('locked');
  await store.close();
});
