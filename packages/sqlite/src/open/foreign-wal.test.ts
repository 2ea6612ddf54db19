import { copyFile, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { beforeEach, describe, expect, it } from 'vitest';
import { runInOtherProgram } from '../../test/other-program.ts';
import { countPlants, makeStore, openInThisThread, plants } from '../../test/store-file.ts';
import { backUpPlants } from '../read/back-up-plants.ts';
import { checkPlants } from '../read/check-plants.ts';
import { findWalOfAnotherFile } from './faults.ts';
import { keptDescriptorOf } from './wal.ts';
import { Database } from './connection.ts';
import { openSqliteRepository } from '../repository.ts';
import { readPlants } from '../read/read-plants.ts';

let folder = '';
beforeEach(async () => {
  folder = await makeFolder();
});
const inFolder = (name: string) => join(folder, name);

/** Copies the files of an open store, which are the same after a `kill -9`. */
const copyKilled = async (from: string, to: string) => {
  await copyFile(from, to);
  await copyFile(`${from}-wal`, `${to}-wal`);
};

const expectRefusal = async (path: string) => {
  const read = async () =>
    Promise.all([path, `${path}-wal`].map(async (file) => readFile(file).catch(() => 'missing')));
  const before = await read();
  expect(() => makeStore(path)).toThrow('wal-of-another-file');
  // Neither is it read; a missing or empty file has nothing to read.
  if ((await stat(path).catch(() => undefined))?.size) {
    expect(checkPlants(path)._unsafeUnwrapErr().kind).toBe('wal-of-another-file');
  }
  expect(await read()).toEqual(before);
};

describe('WAL file of another database', () => {
  it.each([
    ['an older', 100, 600],
    ['an older, by one plant,', 599, 600],
    ['a newer', 600, 100],
  ])(
    'a WAL file of another database is refused beside %s backup, which opens after its removal',
    async (_, inBackup, inWal) => {
      const [path, backup] = [inFolder('plants.db'), inFolder('backup.db')];
      const store = openInThisThread(path);
      const backUp = async () => {
        store.createAll(plants(0, inBackup));
        (await backUpPlants({ from: path, to: backup }))._unsafeUnwrap();
      };
      const copyWal = async () => {
        store.createAll(plants(0, inWal));
        await copyFile(`${path}-wal`, inFolder('wal'));
      };
      for (const step of inBackup < inWal ? [backUp, copyWal] : [copyWal, backUp]) await step();
      store.close();
      await copyFile(inFolder('wal'), `${backup}-wal`);
      await expectRefusal(backup);
      await rm(`${backup}-wal`);
      expect(countPlants(backup)).toBe(inBackup);
    },
  );

  it.each<[string, (path: string) => Promise<unknown>]>([
    ['a check', async (path) => checkPlants(path)],
    [
      'a read',
      async (path) => {
        for await (const read of readPlants({ path })) expect(read.isOk()).toBe(true);
      },
    ],
    [
      'a repository could not be opened',
      async (path) => {
        runInOtherProgram(path, 'CREATE UNIQUE INDEX names ON plants (id)');
        expect((await openSqliteRepository({ path })).isErr()).toBe(true);
        expect(checkPlants(path).isErr()).toBe(true);
      },
    ],
  ])(
    'a WAL file of another database is refused beside a backup that was copied over the file after %s in the same process',
    async (_, use) => {
      const [path, backup] = [inFolder('plants.db'), inFolder('backup.db')];
      // No earlier connection may still count as open, such as those of the backup and of the closed repository.
      const store = openInThisThread(path);
      store.createAll(plants(0, 599));
      (await backUpPlants({ from: path, to: backup }))._unsafeUnwrap();
      store.createAll(plants(599, 600));
      await copyFile(`${path}-wal`, inFolder('wal'));
      store.close();
      await use(path);
      await copyFile(backup, path);
      await copyFile(inFolder('wal'), `${path}-wal`);
      await expectRefusal(path);
    },
  );

  it.each(['missing', 'empty'])(
    'a WAL file is refused when the database file is %s',
    async (state) => {
      const store = openInThisThread(inFolder('plants.db'));
      store.createAll(plants(0, 500));
      await copyFile(inFolder('plants.db-wal'), inFolder('new.db-wal'));
      store.close();
      const path = inFolder('new.db');
      if (state === 'empty') await writeFile(path, '');
      await expectRefusal(path);
      expect((await openSqliteRepository({ path }))._unsafeUnwrapErr()).toMatchObject({
        kind: 'wal-of-another-file',
        message: `${path}-wal has plants, but ${path} is missing, empty or a backup, and opening both would lose plants; put the file back that was beside it, or move both to another folder, keep them, and restore a backup`,
      });
    },
  );
});

describe('WAL file of a database', () => {
  it('the WAL file of a database restores every plant of a store whose file has one page', async () => {
    makeStore(inFolder('other.db'));
    const database = new Database(inFolder('plants.db'));
    database.exec(`PRAGMA journal_mode = WAL; ATTACH '${inFolder('other.db')}' AS other`);
    const one = (sql: string) => String(Object.values(database.prepare(sql).get() ?? {})[0]);
    database.exec(one("SELECT sql FROM other.sqlite_schema WHERE name = 'plants'"));
    for (const name of ['application_id', 'user_version'])
      database.exec(`PRAGMA main.${name} = ${one(`PRAGMA other.${name}`)}`);
    for (let id = 0; id < 500; id += 1)
      database.exec(`INSERT INTO main.plants (id, name, tag) VALUES (${id}, 'x', NULL)`);
    expect((await stat(inFolder('plants.db'))).size).toBe(4_096);
    await copyKilled(inFolder('plants.db'), inFolder('killed.db'));
    database.close();
    expect(countPlants(inFolder('killed.db'))).toBe(500);
  });

  it('the WAL file of a database restores every plant beside a file with several pages', async () => {
    const path = inFolder('plants.db');
    const first = openInThisThread(path);
    first.createAll(plants(0, 1_000));
    first.close();
    const second = openInThisThread(path);
    second.createAll(plants(1_000, 1_500));
    await copyKilled(path, inFolder('killed.db'));
    second.close();
    expect(countPlants(inFolder('killed.db'))).toBe(1_500);
  });

  it('the WAL file of a database may end in a torn frame, which is ignored', async () => {
    const store = openInThisThread(inFolder('plants.db'));
    store.createAll(plants(0, 500));
    store.createAll(plants(500, 501, 'x'.repeat(50_000)));
    await copyKilled(inFolder('plants.db'), inFolder('killed.db'));
    store.close();
    await truncate(inFolder('killed.db-wal'), (await stat(inFolder('killed.db-wal'))).size - 100);
    expect(countPlants(inFolder('killed.db'))).toBe(500);
  });

  it('the WAL file of a database may be reset by a checkpoint, with frames of earlier commits after its end', async () => {
    const path = inFolder('plants.db');
    makeStore(path);
    const database = new Database(path);
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    const insert = database.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, NULL)');
    const insertAll = (from: number, to: number) => {
      for (const { id, name } of plants(from, to)) insert.run(id, name);
    };
    insertAll(0, 300);
    database.exec('PRAGMA wal_checkpoint');
    insertAll(300, 350);
    await copyKilled(path, inFolder('killed.db'));
    database.close();
    expect(countPlants(inFolder('killed.db'))).toBe(350);
  });

  it('the WAL file of a database may belong to a file with allocated space after its last page, as with a chunk size', async () => {
    const path = inFolder('plants.db');
    const store = openInThisThread(path);
    store.createAll(plants(0, 100));
    await copyKilled(path, inFolder('killed.db'));
    store.close();
    await truncate(inFolder('killed.db'), 2 ** 20);
    expect(countPlants(inFolder('killed.db'))).toBe(100);
  });
});

it('comparing a file with its WAL file releases no lock of a repository in the same process', async () => {
  const path = inFolder('plants.db');
  const store = (await openSqliteRepository({ path }))._unsafeUnwrap();
  await store.create({ id: 7n, name: 'Monstera' });
  expect(findWalOfAnotherFile(path, keptDescriptorOf(path))).toBeUndefined();
  expect(runInOtherProgram(path, 'PRAGMA journal_mode = DELETE')).toBe('database is locked');
  await store.close();
});

it.each([
  ['a reader', async (path: string) => checkPlants(path)],
  ['a backup', async (path: string) => backUpPlants({ from: path, to: `${path}.backup` })],
])(
  'comparing a file with its WAL file for %s releases no lock of a reader in the same process',
  async (_, use) => {
    const store = openInThisThread(inFolder('plants.db'));
    store.createAll(plants(0, 2_000));
    await copyKilled(inFolder('plants.db'), inFolder('killed.db'));
    store.close();
    const reading = readPlants({ path: inFolder('killed.db') });
    expect((await reading.next()).value?.isOk()).toBe(true);
    await use(inFolder('killed.db'));
    expect(runInOtherProgram(inFolder('killed.db'), 'PRAGMA journal_mode = DELETE')).toBe(
      'database is locked',
    );
    await reading.return();
  },
);

it('a file to which its owner is writing is reported as locked', async () => {
  const path = inFolder('plants.db');
  const store = (await openSqliteRepository({ path }))._unsafeUnwrap();
  const creating = Promise.all(plants(0, 1_000).map(async (plant) => store.create(plant)));
  expect((await openSqliteRepository({ path }))._unsafeUnwrapErr().kind).toBe('locked');
  await creating;
  await store.close();
});
