import {
  access,
  chmod,
  copyFile,
  link,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDevice, requiresDevices } from '@plantstore/test-support/make-device';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { requiresPosix } from '@plantstore/test-support/requires';
import { beforeEach, describe, expect, it } from 'vitest';
import { createUntilKilled } from '../../test/create-on-disk.ts';
import { openerInOtherProcess } from '../../test/open-in-other-process.ts';
import { countPlants, makeStore } from '../../test/store-file.ts';
import { backUpPlants } from '../read/back-up-plants.ts';
import { checkPlants } from '../read/check-plants.ts';
import { schemaVersion } from './table.ts';
import { Database } from './connection.ts';
import { openSqliteRepository } from '../repository.ts';
import { lockTimeoutMs } from './owner-lock.ts';
import { readPlants } from '../read/read-plants.ts';

const openInOtherProcess = openerInOtherProcess();

let folder = '';
beforeEach(async () => {
  folder = await makeFolder();
  await chmod(folder, 0o777);
});

const inFolder = (name: string) => join(folder, name);

const makeDatabase = (path: string, sql: string) => {
  const database = new Database(path);
  database.exec(sql);
  database.close();
};

/** Creates an empty file that every user may write; SQLite gives the files beside it the same mode. */
const makeSharedFile = async (path: string) => {
  await writeFile(path, '');
  await chmod(path, 0o666);
};

const failToOpen = async (path: string) =>
  (await openSqliteRepository({ path }))._unsafeUnwrapErr();

describe('a file that is not a plant store', () => {
  it('a file is refused and left unchanged when it is not a database', async () => {
    await writeFile(inFolder('plants.db'), 'buy milk\n'.repeat(100));
    expect(await failToOpen(inFolder('plants.db'))).toMatchObject({
      kind: 'not-a-database',
      message: expect.stringContaining('is not a SQLite database') as unknown,
    });
    expect(await readFile(inFolder('plants.db'), 'utf8')).toBe('buy milk\n'.repeat(100));
  });

  it('a file is refused and left unchanged when it belongs to another application', async () => {
    makeDatabase(inFolder('plants.db'), 'CREATE TABLE notes (text TEXT)');
    const before = await readFile(inFolder('plants.db'));
    expect(await failToOpen(inFolder('plants.db'))).toMatchObject({
      kind: 'not-a-plant-store',
      message: expect.stringContaining('another application') as unknown,
    });
    expect(await readFile(inFolder('plants.db'))).toEqual(before);
  });

  it('a file is refused and left unchanged when a newer version created it', async () => {
    makeStore(inFolder('plants.db'));
    const sql = `ALTER TABLE plants ADD COLUMN colour TEXT; PRAGMA user_version = ${schemaVersion + 1}`;
    makeDatabase(inFolder('plants.db'), sql);
    const before = await readFile(inFolder('plants.db'));
    expect(await failToOpen(inFolder('plants.db'))).toMatchObject({
      kind: 'schema-newer',
      message: expect.stringMatching(
        /schema version 2 of a newer version of Plantstore; upgrade this one/,
      ) as unknown,
    });
    expect(await readFile(inFolder('plants.db'))).toEqual(before);
  });

  it('an empty file becomes a plant store', async () => {
    await writeFile(inFolder('plants.db'), '');
    makeStore(inFolder('plants.db'));
  });

  it('a path is refused when it is a folder, or in a folder that does not exist', async () => {
    await mkdir(inFolder('plants.db'));
    expect((await failToOpen(inFolder('plants.db'))).message).toMatch(
      /it is a folder, a device or a pipe; name a file$/,
    );
    expect((await failToOpen(inFolder('no/plants.db'))).message).toMatch(
      /no: ENOENT; make this folder, or let this user enter it$/,
    );
  });

  it.each([1, 1000, 4096])(
    'a file is refused when it is truncated by %i bytes',
    async (missing) => {
      const path = inFolder('plants.db');
      makeStore(path);
      const bytes = await readFile(path);
      await writeFile(path, bytes.subarray(0, bytes.length - missing));
      expect(await failToOpen(path)).toMatchObject({
        kind: 'damaged',
        message: expect.stringContaining(
          'is damaged, or its disk cannot read it; check',
        ) as unknown,
      });
      expect((await readPlants({ path }).next()).value?._unsafeUnwrapErr().kind).toBe('damaged');
      await writeFile(path, bytes);
      makeStore(path);
    },
  );

  it.each([
    ['a symbolic link to itself', 'loop', /ELOOP/],
    ['a name that is too long', 'x'.repeat(300), /ENAMETOOLONG/],
    ['in a file', 'file/plants.db', /file: ENOTDIR; make this folder/],
  ])('a path is refused when it is %s', async (_, name, message) => {
    await symlink('loop', inFolder('loop'));
    await writeFile(inFolder('file'), '');
    expect(await failToOpen(inFolder(name))).toMatchObject({
      kind: 'cannot-open',
      message: expect.stringMatching(message) as unknown,
    });
  });

  it('a path is refused when it contains a NUL byte', async () => {
    expect(await failToOpen(inFolder('nul\0.db'))).toMatchObject({ kind: 'unexpected' });
  });

  it.each([
    ['no table', ''],
    ['a table without unique ids', 'CREATE TABLE plants (id, name, tag)'],
    ['a table without tags', 'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT) STRICT'],
  ])('a file is refused when it has the application id of Plantstore and %s', async (_, sql) => {
    const path = inFolder('plants.db');
    makeStore(path);
    makeDatabase(path, `DROP TABLE plants; ${sql}`);
    for (const _again of [1, 2]) {
      expect(await failToOpen(path)).toMatchObject({
        kind: 'table-altered',
      });
    }
  });

  it('a name of 250 bytes, to which SQLite cannot add a suffix, is refused as too long', async () => {
    expect(await failToOpen(inFolder('x'.repeat(250)))).toMatchObject({
      kind: 'cannot-open',
      message: expect.stringMatching(/ENAMETOOLONG.*-journal'; choose a shorter name$/) as unknown,
    });
  });

  it('a file is created beside the header of a WAL file, which has no plants', async () => {
    const path = inFolder('plants.db');
    await writeFile(`${path}-wal`, Buffer.alloc(32, 7));
    const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
    expect((await repository.create({ id: 7n, name: 'Monstera' })).isOk()).toBe(true);
    await repository.close();
    expect(countPlants(path)).toBe(1);
  });

  it.each(['null', 'full'] as const)(
    'a device like /dev/%s is refused as a database',
    requiresDevices,
    async (name) => {
      const path = makeDevice(folder, name);
      expect(await failToOpen(path)).toMatchObject({
        kind: 'cannot-open',
        message: `${path} cannot be opened: it is a folder, a device or a pipe; name a file`,
      });
      expect(await readdir(folder)).toEqual([name]);
    },
  );

  it('a file is refused when it is damaged', async () => {
    makeStore(inFolder('plants.db'));
    const bytes = await readFile(inFolder('plants.db'));
    bytes.fill(0xff, 100, 4096);
    await writeFile(inFolder('plants.db'), bytes);
    expect(await failToOpen(inFolder('plants.db'))).toMatchObject({ kind: 'damaged' });
  });
});

describe('file that is in use', () => {
  it('a file that is in use is refused while this or another process has it open', async () => {
    await makeSharedFile(inFolder('plants.db'));
    const repository = (
      await openSqliteRepository({ path: inFolder('plants.db') })
    )._unsafeUnwrap();
    const locked = {
      kind: 'locked',
      message: expect.stringContaining('in use, by another process') as unknown,
    };
    expect(await failToOpen(inFolder('plants.db'))).toMatchObject(locked);
    expect(await openInOtherProcess(inFolder('plants.db'))).toMatchObject(locked);
    await repository.close();
    makeStore(inFolder('plants.db'));
  });

  it('a file that is in use is opened once another program releases it within the lock timeout', async () => {
    const path = inFolder('plants.db');
    makeStore(path);
    const openWhileLocked = async () => {
      const other = new Database(path);
      other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE');
      const opening = openSqliteRepository({ path });
      await sleep(lockTimeoutMs / 3);
      other.close();
      return opening;
    };
    let opened = await openWhileLocked();
    // A busy machine may delay the release beyond the lock timeout.
    for (let again = 0; again < 4 && opened.isErr(); again += 1) opened = await openWhileLocked();
    await opened._unsafeUnwrap().close();
  });

  it('a file is refused after the lock timeout while another program has it locked', async () => {
    const path = inFolder('plants.db');
    makeStore(path);
    const other = new Database(path);
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE');
    const before = performance.now();
    const opened = await openSqliteRepository({ path });
    expect(opened._unsafeUnwrapErr()).toMatchObject({ kind: 'locked' });
    expect(performance.now() - before).toBeGreaterThanOrEqual(lockTimeoutMs);
    other.close();
  });

  it('an open file remains locked for other processes after this process tries to open it by a symbolic link', async () => {
    const path = inFolder('plants.db');
    await makeSharedFile(path);
    const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
    await symlink(path, inFolder('other.db'));
    expect(await failToOpen(inFolder('other.db'))).toMatchObject({ kind: 'locked' });
    expect(await openInOtherProcess(path)).toMatchObject({ kind: 'locked' });
    expect(await openInOtherProcess(inFolder('other.db'))).toMatchObject({ kind: 'locked' });
    expect((await repository.create({ id: 7n, name: 'Monstera' })).isOk()).toBe(true);
    await repository.close();
  });
});

describe('file with several hard links', () => {
  it('a file with two hard links is refused under both names after a kill, and loses no plant once one name is left', async () => {
    const path = inFolder('plants.db');
    const [id] = await createUntilKilled([path], 1);
    await link(path, inFolder('other.db'));
    const other = inFolder('other.db');
    for (const [name, message] of [
      [path, 'keep only the one beside the -wal file that is not empty'],
      [other, 'keep only the one beside the -wal file that is not empty'],
    ] as const) {
      expect(await failToOpen(name)).toMatchObject({
        kind: 'hard-links',
        message: expect.stringContaining(message) as unknown,
      });
    }
    await expect(stat(inFolder('other.db-owner'))).rejects.toThrow('ENOENT');
    const from = inFolder('other.db');
    const backedUp = await backUpPlants({ from, to: inFolder('backup.db') });
    expect(backedUp._unsafeUnwrapErr()).toMatchObject({ kind: 'hard-links', path: from });
    expect(checkPlants(from)._unsafeUnwrapErr()).toMatchObject({ kind: 'hard-links', path: from });
    await rm(other);
    const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
    const created = await repository.create({ id: BigInt(id ?? 0), name: 'other' });
    expect(created._unsafeUnwrapErr().kind).toBe('id-taken');
    await repository.close();
  });

  it('a backup with two hard links is read, because it is complete without a WAL', async () => {
    makeStore(inFolder('plants.db'), [{ id: 7n, name: 'Monstera' }]);
    const to = inFolder('backup.db');
    (await backUpPlants({ from: inFolder('plants.db'), to }))._unsafeUnwrap();
    await link(to, inFolder('other.db'));
    expect(checkPlants(to)._unsafeUnwrap()).toMatchObject({ plants: 1, damage: [] });
  });
});

// Windows does not have file modes.
describe('a path without write permission', requiresPosix, () => {
  it('a folder without write permission is reported as read-only, whether or not the file exists', async () => {
    makeStore(inFolder('original.db'));
    await mkdir(inFolder('read-only'));
    await copyFile(inFolder('original.db'), inFolder('read-only/plants.db'));
    await chmod(inFolder('read-only/plants.db'), 0o666);
    await chmod(inFolder('read-only'), 0o555);
    for (const name of ['read-only/plants.db', 'read-only/new.db']) {
      expect(await openInOtherProcess(inFolder(name))).toMatchObject({
        kind: 'read-only',
        message: expect.stringMatching(/cannot be written to \(.*read-only: EACCES\)/) as unknown,
      });
    }
    await expect(access(inFolder('read-only/new.db'))).rejects.toThrow('ENOENT');
    await chmod(inFolder('read-only'), 0o755);
  });

  it('a folder that this user may not enter is reported', async () => {
    await mkdir(inFolder('private'), { mode: process.getuid?.() === 0 ? 0o700 : 0o600 });
    expect(await openInOtherProcess(inFolder('private/plants.db'))).toMatchObject({
      kind: 'cannot-open',
      message: expect.stringMatching(
        /private: EACCES; make this folder, or let this user enter it$/,
      ) as unknown,
    });
  });

  it('a file without write permission is reported as read-only, also where every file beside it can be written to', async () => {
    makeStore(inFolder('plants.db'));
    await chmod(inFolder('plants.db'), 0o444);
    // SQLite opens such a file to read it, and begins a transaction.
    await chmod(inFolder('plants.db-owner'), 0o666);
    await chmod(inFolder('.'), 0o777);
    expect(await openInOtherProcess(inFolder('plants.db'))).toMatchObject({
      kind: 'read-only',
      message: expect.stringMatching(
        /plants\.db cannot be written to \(EACCES\); let this user write to it and to its folder/,
      ) as unknown,
    });
  });
});
