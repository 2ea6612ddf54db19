import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { requiresRoot } from '@plantstore/test-support/requires';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { connectOther } from '../../test/other-program.ts';
import { countPlants, makeStore, plants } from '../../test/store-file.ts';
import { openSqliteRepository } from '../repository.ts';
import { backUpPlants, restorePlants } from './back-up-plants.ts';
import { checkPlants } from './check-plants.ts';
import { readPlants } from './read-plants.ts';

let folder = '';
let from = '';
let to = '';
beforeEach(async () => {
  folder = await makeFolder();
  [from, to] = [join(folder, 'plants.db'), join(folder, 'backup.db')];
});

const openStore = async () => {
  const repository = (await openSqliteRepository({ path: from }))._unsafeUnwrap();
  onTestFinished(async () => void (await repository.close()));
  return repository;
};

const name = 'x'.repeat(1_000);

const idsIn = async (path: string) => {
  const ids = new Set<bigint>();
  for await (const read of readPlants({ path })) ids.add(read._unsafeUnwrap().id);
  return ids;
};

/** Returns the file format: 1 for a rollback journal, 2 for WAL (sqlite.org/fileformat2.html). */
const formatOf = async (path: string) => (await readFile(path))[18];

/** Returns the names in the folder with their inodes, modes and contents. */
const contentOf = async () =>
  Promise.all(
    (await readdir(folder)).toSorted().map(async (file) => {
      const { ino, mode } = await lstat(join(folder, file));
      return [file, ino, mode, await readFile(join(folder, file), 'base64').catch(String)];
    }),
  );

/** Returns the names that begin as that of the copy. */
const copies = async () => (await readdir(folder)).filter((file) => file.startsWith('backup'));

it.each([226, 227, 260])(
  'backUpPlants and restorePlants copy to a name of %i bytes, or say which name is too long',
  async (length) => {
    makeStore(from, plants(0, 3));
    to = join(folder, 'backup'.padEnd(length, 'x'));
    for (const copy of [backUpPlants, restorePlants]) {
      const copied = await copy({ from, to });
      if (length <= 226) {
        expect(copied._unsafeUnwrap().plants).toBe(3);
        await rm(to);
      } else {
        const message = expect.stringMatching(/ENAMETOOLONG: name too long, lstat '.*'/) as unknown;
        expect(copied._unsafeUnwrapErr()).toMatchObject({ kind: 'cannot-open', path: to, message });
      }
    }
    expect(await copies()).toEqual([]);
  },
);

it('backUpPlants copies every acknowledged plant while plants are being created, and another program reads', async () => {
  const repository = await openStore();
  const acknowledged: bigint[] = [];
  const create = async (id: bigint) => {
    if ((await repository.create({ id, name })).isOk()) acknowledged.push(id);
  };
  await create(0n);
  // It keeps a checkpoint from completing.
  const other = connectOther(from);
  for (const sql of ['BEGIN', 'SELECT * FROM plants']) other.run(sql);
  await Promise.all(Array.from({ length: 1_000 }, async (_, id) => create(BigInt(id))));
  const before = [...acknowledged];
  const creating = Array.from({ length: 1_000 }, async (_, id) => create(5_000n + BigInt(id)));
  const backup = (await backUpPlants({ from, to }))._unsafeUnwrap();
  await Promise.all(creating);
  const ids = await idsIn(to);
  expect(before.filter((id) => !ids.has(id))).toEqual([]);
  expect(backup).toEqual({ plants: ids.size, size: (await stat(to)).size });
  expect(await copies()).toEqual(['backup.db']);
});

it('backUpPlants creates a complete file that a repository can open and switch to WAL mode', async () => {
  makeStore(from, plants(7, 8, name));
  (await backUpPlants({ from, to }))._unsafeUnwrap();
  expect([await formatOf(from), await formatOf(to)]).toEqual([2, 1]);
  makeStore(to, plants(7, 9, name));
  expect(await formatOf(to)).toBe(2);
  expect(await idsIn(to)).toEqual(new Set([7n, 8n]));
  // A copy in WAL mode can be read, too.
  expect(checkPlants(to)._unsafeUnwrap()).toMatchObject({ plants: 2, damage: [] });
  (await restorePlants({ from: to, to: `${to}.restored` }))._unsafeUnwrap();
  expect(await idsIn(`${to}.restored`)).toEqual(new Set([7n, 8n]));
});

it('backUpPlants copies the permissions, and gives the owner of the copy access', async () => {
  makeStore(from);
  await chmod(from, 0o440);
  (await backUpPlants({ from, to }))._unsafeUnwrap();
  expect((await stat(to)).mode & 0o777).toBe(0o640);
});

it(
  'a copy by root belongs to the owner of the source, and a restored one of root to that of its folder',
  requiresRoot,
  async () => {
    makeStore(from);
    await chown(from, 65_534, 65_534);
    (await backUpPlants({ from, to }))._unsafeUnwrap();
    expect(await stat(to)).toMatchObject({ uid: 65_534, gid: 65_534 });
    await chown(to, 0, 0);
    await chown(folder, 65_533, 65_533);
    (await restorePlants({ from: to, to: `${to}.restored` }))._unsafeUnwrap();
    expect(await stat(`${to}.restored`)).toMatchObject({ uid: 65_533, gid: 65_533 });
    // Only what root owns goes to the owner of the folder, and only when it is restored.
    (await backUpPlants({ from: to, to: `${to}.again` }))._unsafeUnwrap();
    expect(await stat(`${to}.again`)).toMatchObject({ uid: 0, gid: 0 });
    await chown(to, 65_534, 65_534);
    (await restorePlants({ from: to, to: `${to}.other` }))._unsafeUnwrap();
    expect(await stat(`${to}.other`)).toMatchObject({ uid: 65_534, gid: 65_534 });
  },
);

/** Returns the bytes of a store, with a byte or more changed by `change`. */
const damages: readonly [string, () => Promise<void>][] = [
  [
    'a damaged page',
    async () => {
      makeStore(from, plants(0, 100, name));
      const bytes = await readFile(from);
      await writeFile(from, bytes.fill(0xff, 20 * 4_096, 21 * 4_096));
    },
  ],
  [
    'damaged rows, which VACUUM INTO copies',
    async () => {
      makeStore(from, plants(7, 8, 'Monstera'));
      const bytes = await readFile(from);
      // The name becomes a BLOB, which a STRICT table cannot contain.
      bytes[bytes.lastIndexOf(13 + 2 * 8, bytes.lastIndexOf('Monstera'))] = 12 + 2 * 8;
      await writeFile(from, bytes);
    },
  ],
];

it.each(damages)('backUpPlants refuses a database with %s, and leaves nothing', async (_, make) => {
  await make();
  const copied = await backUpPlants({ from, to });
  expect(copied._unsafeUnwrapErr()).toMatchObject({ kind: 'damaged', path: from });
  expect(await copies()).toEqual([]);
});

/** Files that have the name of a copy, or one that SQLite would use beside it. */
const occupied: readonly [string, string, (path: string) => Promise<unknown>][] = [
  ['an empty file', '', async (path) => writeFile(path, '')],
  ['a folder', '', async (path) => mkdir(path)],
  ['a link to a missing file', '', async (path) => symlink('nowhere', path)],
  ['a link to the source', '', async (path) => symlink(from, path)],
  ['a -wal file', '-wal', async (path) => writeFile(path, 'of an old file')],
  ['a -journal file', '-journal', async (path) => writeFile(path, 'of an old file')],
];

it.each(occupied)('a copy refuses %s of the name, and changes nothing', async (_, suffix, make) => {
  makeStore(from);
  // A shell reads the advice as it is written.
  to = join(folder, "ada's backup.db");
  await make(to + suffix);
  const before = await contentOf();
  for (const copy of [backUpPlants, restorePlants]) {
    const files = `'${folder}/ada'\\''s backup.db'*`;
    const move = `, or stop the server that has it open, and move it with the files beside it to a new folder: mkdir elsewhere && mv ${files} elsewhere/`;
    expect((await copy({ from, to }))._unsafeUnwrapErr()).toEqual({
      kind: 'exists',
      path: to + suffix,
      message: `${to}${suffix} already exists; name another file${copy === restorePlants ? move : ''}`,
    });
  }
  expect(await contentOf()).toEqual(before);
});

it('a copy refuses its source, and the file of an open repository, as its name', async () => {
  const repository = await openStore();
  for (const copy of [backUpPlants, restorePlants])
    expect((await copy({ from, to: from }))._unsafeUnwrapErr().kind).toBe('exists');
  expect((await repository.create({ id: 7n, name })).isOk()).toBe(true);
});

it('restorePlants copies beside the owner lock of a database that was moved away, and loses no plant to a repository that opens the file', async () => {
  makeStore(from, plants(7, 8, name));
  await writeFile(`${to}-owner`, '');
  expect((await restorePlants({ from, to }))._unsafeUnwrap().plants).toBe(1);
  expect(countPlants(to)).toBe(1);
  for (const path of [`${to}.first`, `${to}.second`]) {
    const opening = openSqliteRepository({ path });
    const restored = await restorePlants({ from, to: path });
    const opened = await opening;
    if (opened.isOk()) await opened.value.close();
    if (restored.isOk()) expect(countPlants(path)).toBe(1);
    else expect(restored.error.kind).toBe('exists');
  }
});

it.each<[string, () => unknown, string]>([
  ['is missing', () => {}, 'missing'],
  ['is no database', async () => writeFile(from, 'buy milk\n'.repeat(999)), 'not-a-database'],
  ['is empty', async () => writeFile(from, ''), 'empty'],
  ['is a folder', async () => mkdir(from), 'not-a-file'],
])('nothing is copied from a file that %s, nor to a missing folder', async (_, make, kind) => {
  await make();
  const before = await contentOf();
  for (const copy of [backUpPlants, restorePlants])
    expect((await copy({ from, to }))._unsafeUnwrapErr()).toMatchObject({ kind, path: from });
  expect(await contentOf()).toEqual(before);
  makeStore(`${folder}/sound.db`);
  const missing = join(folder, 'no/backup.db');
  const copied = await backUpPlants({ from: `${folder}/sound.db`, to: missing });
  expect(copied._unsafeUnwrapErr()).toMatchObject({ kind: 'cannot-open', path: missing });
});
