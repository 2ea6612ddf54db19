import {
  lstat,
  chmod,
  chown,
  mkdir,
  open as openFile,
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
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { runsAll } from '@plantstore/test-support/sample';
import { countPlants, makeStore, plants } from '../../test/store-file.ts';
import { backUpPlants, restorePlants } from './back-up-plants.ts';
import { checkPlants } from './check-plants.ts';
import { Database } from '../open/connection.ts';
import { openSqliteRepository } from '../repository.ts';
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

describe('backUpPlants', () => {
  it.each([226, 227, 235, 247, 260])(
    'backUpPlants and restorePlants copy to a name of %i bytes, or say which name is too long',
    async (length) => {
      makeStore(from, plants(0, 3));
      to = join(folder, 'x'.repeat(length));
      for (const copy of [backUpPlants, restorePlants]) {
        const copied = await copy({ from, to });
        if (length <= 226) {
          expect(copied._unsafeUnwrap().plants).toBe(3);
          await rm(to);
        } else {
          expect(copied._unsafeUnwrapErr()).toMatchObject({
            kind: 'cannot-open',
            path: to,
            message: expect.stringMatching(
              /ENAMETOOLONG: name too long, lstat '.*'; choose a shorter name$/,
            ) as unknown,
          });
        }
      }
      expect((await readdir(folder)).filter((file) => file.startsWith('xx'))).toEqual([]);
    },
  );

  it('backUpPlants copies every acknowledged plant while plants are being created', async () => {
    const repository = await openStore();
    const acknowledged: bigint[] = [];
    const create = async (id: bigint) => {
      if ((await repository.create({ id, name })).isOk()) acknowledged.push(id);
    };
    await Promise.all(
      Array.from({ length: runsAll ? 5_000 : 1_000 }, async (_, id) => create(BigInt(id))),
    );
    const before = [...acknowledged];
    const stop = new AbortController();
    const creating = (async () => {
      for (let id = 5_000n; !stop.signal.aborted; id += 1n) await create(id);
    })();
    const backup = (await backUpPlants({ from, to }))._unsafeUnwrap();
    stop.abort();
    await creating;
    const ids = await idsIn(to);
    expect(before.filter((id) => !ids.has(id))).toEqual([]);
    expect(backup).toEqual({ plants: ids.size, size: (await stat(to)).size });
    expect((await readdir(folder)).filter((one) => one.startsWith('backup.db'))).toEqual([
      'backup.db',
    ]);
  });

  it('backUpPlants creates a complete file that a repository can open and switch to WAL mode', async () => {
    makeStore(from, plants(7, 8, name));
    (await backUpPlants({ from, to }))._unsafeUnwrap();
    expect([await formatOf(from), await formatOf(to)]).toEqual([2, 1]);
    const copy = (await openSqliteRepository({ path: to }))._unsafeUnwrap();
    expect((await copy.create({ id: 7n, name })).isOk()).toBe(true);
    expect((await copy.create({ id: 7n, name: 'other' })).isErr()).toBe(true);
    expect((await copy.create({ id: 8n, name })).isOk()).toBe(true);
    await copy.close();
    expect(await formatOf(to)).toBe(2);
    expect(await idsIn(to)).toEqual(new Set([7n, 8n]));
  });

  it('backUpPlants reads an older backup, which is in WAL mode', async () => {
    makeStore(from, plants(7, 8, name));
    const old = join(folder, 'old.db');
    await writeFile(old, await readFile(from));
    expect(await formatOf(old)).toBe(2);
    expect(checkPlants(old)._unsafeUnwrap()).toMatchObject({ plants: 1, damage: [] });
    (await restorePlants({ from: old, to }))._unsafeUnwrap();
    expect(await idsIn(to)).toEqual(new Set([7n]));
  });

  it('backUpPlants copies the permissions, and gives the owner of the copy access', async () => {
    makeStore(from);
    await chmod(from, 0o440);
    (await backUpPlants({ from, to }))._unsafeUnwrap();
    expect((await stat(to)).mode & 0o777).toBe(0o640);
  });

  it(
    'backUpPlants that is run by root gives the copy the owner of the source',
    requiresRoot,
    async () => {
      makeStore(from);
      await chown(from, 65_534, 65_534);
      (await backUpPlants({ from, to }))._unsafeUnwrap();
      expect(await stat(to)).toMatchObject({ uid: 65_534, gid: 65_534 });
    },
  );

  it('backUpPlants copies while another connection keeps a checkpoint from completing', async () => {
    const repository = await openStore();
    await repository.create({ id: 7n, name });
    const other = new Database(from);
    other.exec('BEGIN; SELECT * FROM plants');
    await repository.create({ id: 8n, name });
    expect((await backUpPlants({ from, to }))._unsafeUnwrap().plants).toBe(2);
    other.close();
  });

  it('backUpPlants creates one of several copies of one name at a time, and leaves no other file', async () => {
    makeStore(from, plants(7, 8, name));
    const copies = await Promise.all(
      Array.from({ length: 3 }, async () => backUpPlants({ from, to })),
    );
    const kinds = copies.map((copy) =>
      copy.match(
        () => 'created',
        ({ kind }) => kind,
      ),
    );
    expect(kinds.toSorted()).toEqual(['created', 'exists', 'exists']);
    expect(await idsIn(to)).toEqual(new Set([7n]));
    expect((await readdir(folder)).filter((one) => one.startsWith('backup.db'))).toEqual([
      'backup.db',
    ]);
  });

  it('backUpPlants fails when the database or the folder of the copy does not exist', async () => {
    expect((await backUpPlants({ from, to }))._unsafeUnwrapErr()).toMatchObject({
      kind: 'missing',
      message: `${from} does not exist; correct the path`,
    });
    makeStore(from);
    const inMissingFolder = join(folder, 'no/backup.db');
    expect((await backUpPlants({ from, to: inMissingFolder }))._unsafeUnwrapErr()).toMatchObject({
      kind: 'cannot-open',
      message: expect.stringContaining(join(folder, 'no')) as unknown,
    });
  });

  it('backUpPlants refuses a database with any damaged page, and leaves nothing', async () => {
    makeStore(from, plants(0, 100, name));
    const intact = await readFile(from);
    const before = await readdir(folder);
    for (let page = 1; page < intact.length / 4_096; page += runsAll ? 1 : 20) {
      const file = await openFile(from, 'r+');
      await file.write(Buffer.alloc(4_096, 0xff), 0, 4_096, page * 4_096);
      expect((await backUpPlants({ from, to }))._unsafeUnwrapErr()).toMatchObject({
        kind: 'damaged',
        path: from,
      });
      await file.write(intact, page * 4_096, 4_096, page * 4_096);
      await file.close();
    }
    expect((await readdir(folder)).filter((one) => !one.startsWith('plants.db-'))).toEqual(
      before.filter((one) => !one.startsWith('plants.db-')),
    );
  });

  it('backUpPlants refuses damaged rows, which VACUUM INTO copies', async () => {
    makeStore(from, plants(7, 8, 'Monstera'));
    const bytes = await readFile(from);
    // The name becomes a BLOB, which a STRICT table cannot contain.
    const type = bytes.lastIndexOf(13 + 2 * 8, bytes.lastIndexOf('Monstera'));
    bytes[type] = 12 + 2 * 8;
    await writeFile(from, bytes);
    expect((await backUpPlants({ from, to }))._unsafeUnwrapErr()).toMatchObject({
      kind: 'damaged',
    });
    expect((await readdir(folder)).filter((one) => one.startsWith('backup'))).toEqual([]);
  });

  it('backUpPlants refuses a database whose pages lost a plant that its index has', async () => {
    makeStore(from, plants(1, 4, 'x'));
    const database = new Database(from);
    database.exec('CREATE INDEX by_name ON plants (name)');
    const page = Number(
      database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'plants'").get()?.[
        'rootpage'
      ],
    );
    database.close();
    // The number of cells of a leaf page is two bytes at 3 (sqlite.org/fileformat2.html#b_tree_pages).
    const bytes = await readFile(from);
    expect(bytes.readUInt16BE((page - 1) * 4_096 + 3)).toBe(3);
    bytes.writeUInt16BE(2, (page - 1) * 4_096 + 3);
    await writeFile(from, bytes);
    expect((await backUpPlants({ from, to }))._unsafeUnwrapErr()).toMatchObject({
      kind: 'damaged',
    });
    expect((await readdir(folder)).filter((one) => one.startsWith('backup'))).toEqual([]);
  });
});

/** Files that have the name of a copy, or one that SQLite would use beside it. */
const occupied: readonly [string, string, (path: string) => Promise<unknown>][] = [
  ['a file', '', async (path) => writeFile(path, 'mine')],
  ['an empty file', '', async (path) => writeFile(path, '')],
  ['a folder', '', async (path) => mkdir(path)],
  ['a link to a missing file', '', async (path) => symlink('nowhere', path)],
  ['a link to the source', '', async (path) => symlink(from, path)],
  ['a -wal file', '-wal', async (path) => writeFile(path, 'of an old file')],
  ['a -shm file', '-shm', async (path) => writeFile(path, 'of an old file')],
  ['a -journal file', '-journal', async (path) => writeFile(path, 'of an old file')],
];

describe.each([
  ['backUpPlants', backUpPlants, 'name another file', 0],
  [
    'restorePlants',
    restorePlants,
    "stop the server, then move the database and the files beside it to a new folder: mkdir elsewhere && mv 'TO'* elsewhere/",
    1,
  ],
] as const)('%s', (_, copy, advice, remainder) => {
  // The sample is one half of the files for a backup, and the other one for a restore.
  it.each(occupied.filter((_file, index) => runsAll || index % 2 === remainder))(
    'a copy refuses %s of the name, and changes nothing',
    async (__, suffix, make) => {
      makeStore(from);
      await make(to + suffix);
      const before = await contentOf();
      expect((await copy({ from, to }))._unsafeUnwrapErr()).toEqual({
        kind: 'exists',
        path: to + suffix,
        message: `${to}${suffix} already exists; ${advice.replace('TO', to)}`,
      });
      expect(await contentOf()).toEqual(before);
    },
  );

  it('a copy refuses its source, and the file of an open repository, as its name', async () => {
    const repository = await openStore();
    expect((await copy({ from, to: from }))._unsafeUnwrapErr()).toMatchObject({ kind: 'exists' });
    expect((await repository.create({ id: 7n, name })).isOk()).toBe(true);
  });
});

describe('restorePlants', () => {
  it('restorePlants creates the plants of the backup beside the owner lock of a database that was moved away', async () => {
    makeStore(from, plants(7, 8, name));
    await writeFile(`${to}-owner`, '');
    expect((await restorePlants({ from, to }))._unsafeUnwrap().plants).toBe(1);
    expect(countPlants(to)).toBe(1);
  });

  it('restorePlants advises a command that a shell reads as written, also for a path with a quote', async () => {
    const path = join(folder, "ada's plants.db");
    await writeFile(path, '');
    expect((await restorePlants({ from, to: path }))._unsafeUnwrapErr().message).toContain(
      `mv '${folder}/ada'\\''s plants.db'* elsewhere/`,
    );
  });

  it('restorePlants loses no plant to a repository that opens the file at the same time', async () => {
    makeStore(from, plants(7, 8, name));
    for (let round = 0; round < (runsAll ? 10 : 2); round += 1) {
      const path = join(folder, `restored-${round}.db`);
      const [restored, opened] = await Promise.all([
        restorePlants({ from, to: path }),
        openSqliteRepository({ path }),
      ]);
      if (opened.isOk()) await opened.value.close();
      if (restored.isOk()) expect(await idsIn(path)).toEqual(new Set([7n]));
      else expect(restored.error.kind).toBe('exists');
    }
  });

  it.each([
    ['is missing', async () => {}, 'missing'],
    [
      'is no database',
      async (path: string) => writeFile(path, 'buy milk\n'.repeat(999)),
      'not-a-database',
    ],
    ['is empty', async (path: string) => writeFile(path, ''), 'empty'],
    ['is a folder', async (path: string) => mkdir(path), 'cannot-open'],
  ])('restorePlants creates nothing from a backup that %s', async (_, make, kind) => {
    await make(from);
    const before = await contentOf();
    expect((await restorePlants({ from, to }))._unsafeUnwrapErr()).toMatchObject({
      kind,
      path: from,
    });
    expect(await contentOf()).toEqual(before);
  });
});
