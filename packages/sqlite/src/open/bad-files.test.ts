import {
  chmod,
  copyFile,
  link,
  mkdir,
  readdir,
  readFile,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { makeDevice, requiresDevices } from '@plantstore/test-support/make-device';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { requiresPosix } from '@plantstore/test-support/requires';
import { beforeEach, describe, expect, it } from 'vitest';
import { descriptorsOf } from '../../test/descriptors-of.ts';
import { openUnprivileged } from '../../test/open-unprivileged.ts';
import { countPlants, makeStore, openInThisThread, plants } from '../../test/store-file.ts';
import { backUpPlants } from '../read/back-up-plants.ts';
import { checkPlants } from '../read/check-plants.ts';
import { readPlants } from '../read/read-plants.ts';
import { openSqliteRepository } from '../repository.ts';
import { Database } from './connection.ts';
import { checkDatabasePath, explain } from './faults.ts';
import { lockTimeoutMs } from './owner-lock.ts';

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await makeFolder();
  await chmod(folder, 0o777);
  path = inFolder('plants.db');
});

const inFolder = (name: string) => join(folder, name);

const makeDatabase = (sql: string) => {
  const database = new Database(path);
  database.exec(sql);
  database.close();
};

const failToOpen = async (name: string) =>
  (await openSqliteRepository({ path: name }))._unsafeUnwrapErr();

const matching = (pattern: RegExp) => expect.stringMatching(pattern) as unknown;

it.each<[string, string, RegExp, () => unknown]>([
  [
    'is not a database',
    'not-a-database',
    /is not a SQLite database/,
    async () => writeFile(path, 'buy milk\n'.repeat(100)),
  ],
  [
    'belongs to another application',
    'not-a-plant-store',
    /another application/,
    () => makeDatabase('CREATE TABLE notes (text TEXT)'),
  ],
  [
    'was created by a newer version',
    'schema-newer',
    /schema version 2 of a newer version of Plantstore; upgrade this one$/,
    () => {
      makeStore(path);
      makeDatabase('ALTER TABLE plants ADD COLUMN colour TEXT; PRAGMA user_version = 2');
    },
  ],
  [
    'was truncated',
    'damaged',
    /is damaged, or its disk cannot read it; check/,
    async () => {
      makeStore(path);
      await truncate(path, 8_191);
    },
  ],
  [
    'is damaged',
    'damaged',
    /is damaged/,
    async () => {
      makeStore(path);
      const bytes = await readFile(path);
      await writeFile(path, bytes.fill(0xff, 100, 4096));
    },
  ],
])(
  'a file that %s is refused, is not read, and is left unchanged and closed',
  async (_, kind, text, make) => {
    await make();
    const before = await readFile(path);
    const error = { kind, path, message: matching(text) };
    expect(await failToOpen(path)).toMatchObject(error);
    expect((await readPlants({ path }).next()).value?._unsafeUnwrapErr()).toMatchObject(error);
    expect(await readFile(path)).toEqual(before);
    if (process.platform === 'linux') expect(descriptorsOf(path)).toEqual([]);
  },
);

it.each<[string, string, RegExp]>([
  ['a folder', '.', /it is a folder, a device or a pipe; name a file$/],
  ['in a missing folder', 'no/plants.db', /ENOENT.*no'; check its folder/],
  ['in a file', 'file/plants.db', /file/],
  ['a symbolic link to itself', 'loop', /ELOOP/],
  ['a file with two hard links', 'one', /keep only the one beside the -wal file that is not empty/],
  // SQLite adds a suffix to it.
  ['a name of 250 bytes', 'x'.repeat(250), /ENAMETOOLONG: name too long.*-journal'/],
])('a path that is %s is refused, also without opening it', async (_, name, message) => {
  await symlink('loop', inFolder('loop'));
  await writeFile(inFolder('file'), '');
  await writeFile(inFolder('one'), '');
  await link(inFolder('one'), inFolder('two'));
  const names = await readdir(folder);
  const error = await failToOpen(inFolder(name));
  expect(error).toMatchObject({ path: inFolder(name), message: matching(message) });
  expect(checkDatabasePath(inFolder(name))._unsafeUnwrapErr()).toMatchObject({ kind: error.kind });
  expect(await readdir(folder)).toEqual(names);
});

it('a device is refused', requiresDevices, async () => {
  const device = makeDevice(folder, 'full');
  expect(await failToOpen(device)).toMatchObject({ kind: 'not-a-file' });
  expect(checkDatabasePath(device)._unsafeUnwrapErr().kind).toBe('not-a-file');
  expect(await readdir(folder)).toEqual(['full']);
});

it('checkDatabasePath accepts a missing file and a file, also by a link, and creates nothing', async () => {
  await symlink(path, inFolder('link.db'));
  for (const make of [async () => {}, async () => writeFile(path, '')]) {
    await make();
    const names = await readdir(folder);
    expect(checkDatabasePath(inFolder('link.db')).isOk()).toBe(true);
    expect(await readdir(folder)).toEqual(names);
  }
  makeStore(path);
});

it('a file is created beside the header of a WAL file, which has no plants', async () => {
  await writeFile(`${path}-wal`, Buffer.alloc(32, 7));
  makeStore(path, plants(0, 1));
  expect(countPlants(path)).toBe(1);
});

it('an error on a network file system is named', () => {
  const mapFailed = Object.assign(new Error('disk I/O error'), { errcode: 5386 });
  expect(explain(path, mapFailed).message).toContain('(disk I/O error), such as a network file');
});

describe('file that is in use', () => {
  it('a file that is in use is refused while this or another process has it open, by a link, too', async () => {
    await writeFile(path, '');
    await chmod(path, 0o666);
    const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
    await symlink(path, inFolder('other.db'));
    for (const name of [path, inFolder('other.db')]) {
      const locked = { kind: 'locked', message: matching(/in use, by another process/) };
      expect(await failToOpen(name)).toMatchObject(locked);
      expect(await openUnprivileged(name)).toMatchObject(locked);
    }
    expect((await repository.create({ id: 7n, name: 'Monstera' })).isOk()).toBe(true);
    await repository.close();
    makeStore(path);
  });

  it('a file is refused after the lock timeout while another program has it locked', async () => {
    makeStore(path);
    const other = new Database(path);
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE');
    const before = performance.now();
    expect((await failToOpen(path)).kind).toBe('locked');
    expect(performance.now() - before).toBeGreaterThanOrEqual(lockTimeoutMs);
    other.close();
    makeStore(path);
  });
});

it('a file with two hard links is neither opened nor read under a name, and a backup is read', async () => {
  const store = openInThisThread(path);
  store.createAll(plants(0, 3));
  const killed = inFolder('killed.db');
  for (const suffix of ['', '-wal']) await copyFile(path + suffix, killed + suffix);
  store.close();
  const from = inFolder('other.db');
  const to = inFolder('backup.db');
  await link(killed, from);
  for (const name of [killed, from]) expect((await failToOpen(name)).kind).toBe('hard-links');
  expect((await backUpPlants({ from, to }))._unsafeUnwrapErr().kind).toBe('hard-links');
  await rm(from);
  expect(countPlants(killed)).toBe(3);
  (await backUpPlants({ from: killed, to }))._unsafeUnwrap();
  await link(to, from);
  expect(checkPlants(to)._unsafeUnwrap()).toMatchObject({ plants: 3, damage: [] });
});

// Windows does not have file modes.
describe('a path without permission', requiresPosix, () => {
  it.each<[string, string, string, RegExp, () => unknown]>([
    [
      'file cannot be written to, unlike those beside it',
      'plants.db',
      'read-only',
      /attempt to write a readonly database\); let this user write to it, to the files beside it/,
      async () => {
        makeStore(path);
        await chmod(path, 0o444);
        // SQLite opens such a file to read it, and begins a transaction.
        await chmod(`${path}-owner`, 0o666);
      },
    ],
    [
      'folder cannot be written to',
      'read-only/new.db',
      'read-only',
      /EACCES: permission denied.*new\.db-owner/,
      async () => {
        await mkdir(inFolder('read-only'));
        await chmod(inFolder('read-only'), 0o555);
      },
    ],
    [
      'folder cannot be entered',
      'private/plants.db',
      'read-only',
      /EACCES: permission denied.*private/,
      async () => mkdir(inFolder('private'), process.getuid?.() === 0 ? 0o700 : 0o600),
    ],
    [
      'owner lock cannot be written to, so that two processes could share it',
      'plants.db',
      'read-only',
      /plants\.db-owner cannot be opened or written to/,
      async () => {
        for (const suffix of ['', '-owner']) await writeFile(path + suffix, '');
        await chmod(path, 0o666);
        await chmod(`${path}-owner`, 0o444);
      },
    ],
  ])('a path whose %s is refused', async (_, name, kind, text, make) => {
    await make();
    const error = { kind, message: matching(text) };
    expect(await openUnprivileged(inFolder(name))).toMatchObject(error);
    await rm(inFolder('read-only'), { recursive: true, force: true });
  });
});
