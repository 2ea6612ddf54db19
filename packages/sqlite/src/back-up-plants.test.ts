import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import {
  mkdir,
  mkdtemp,
  open as openFile,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { backUpPlants, type BackupProgress } from './back-up-plants.ts';
import { openSqliteRepository } from './open-sqlite-repository.ts';
import { readPlants } from './read-plants.ts';

let folder = '';
let from = '';
let to = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  [from, to] = [join(folder, 'plants.db'), join(folder, 'backup.db')];
  return async () => rm(folder, { recursive: true });
});

const openStore = async () => {
  const repository = (await openSqliteRepository({ path: from }))._unsafeUnwrap();
  onTestFinished(async () => void (await repository.close()));
  return repository;
};

/** Opens a repository with 16 plants that are copied in several steps. */
const openLargeStore = async () => {
  const repository = await openStore();
  for (let id = 0n; id < 16n; id += 1n) {
    await repository.create({ id, name: 'x'.repeat(2 ** 20) });
  }
};

const name = 'x'.repeat(1_000);

const idsIn = async (path: string) => {
  const ids = new Set<bigint>();
  for await (const read of readPlants({ path })) ids.add(read._unsafeUnwrap().id);
  return ids;
};

describe('backUpPlants', () => {
  it('copies every acknowledged plant while plants are being created', async () => {
    const repository = await openStore();
    const acknowledged: bigint[] = [];
    const create = async (id: bigint) => {
      if ((await repository.create({ id, name })).isOk()) acknowledged.push(id);
    };
    await Promise.all(Array.from({ length: 5_000 }, async (_, id) => create(BigInt(id))));
    const before = [...acknowledged];
    const stop = new AbortController();
    const creating = (async () => {
      for (let id = 5_000n; !stop.signal.aborted; id += 1n) await create(id);
    })();
    const progress: BackupProgress[] = [];
    const onProgress = (one: BackupProgress) => void progress.push(one);
    const backup = (await backUpPlants({ from, to, onProgress }))._unsafeUnwrap();
    stop.abort();
    await creating;
    const ids = await idsIn(to);
    expect(before.filter((id) => !ids.has(id))).toEqual([]);
    expect(backup).toEqual({ plants: ids.size, size: (await stat(to)).size });
    expect(progress.length).toBeGreaterThan(0);
    expect((await readdir(folder)).filter((one) => one.startsWith('backup.db.'))).toEqual([]);
  });

  it('creates a file that a repository can open', async () => {
    const repository = await openStore();
    await repository.create({ id: 7n, name });
    (await backUpPlants({ from, to }))._unsafeUnwrap();
    const copy = (await openSqliteRepository({ path: to }))._unsafeUnwrap();
    expect((await copy.create({ id: 7n, name })).isOk()).toBe(true);
    expect((await copy.create({ id: 7n, name: 'other' })).isErr()).toBe(true);
    await copy.close();
  });

  it('does not overwrite an existing file', async () => {
    await (await openStore()).close();
    await writeFile(to, 'mine');
    for (const taken of [to, from]) {
      expect((await backUpPlants({ from, to: taken }))._unsafeUnwrapErr()).toEqual({
        kind: 'exists',
        path: taken,
        message: `${taken} already exists; name another file`,
      });
    }
    expect((await stat(to)).size).toBe(4);
  });

  it('does not overwrite a file that is created during the backup', async () => {
    await openLargeStore();
    const onProgress = () => writeFileSync(to, 'mine');
    expect((await backUpPlants({ from, to, onProgress }))._unsafeUnwrapErr()).toMatchObject({
      kind: 'exists',
      path: to,
    });
    expect(await readFile(to, 'utf8')).toBe('mine');
    expect(existsSync(`${to}.partial`)).toBe(false);
  });

  it('does not overwrite a symbolic link', async () => {
    await openStore();
    await symlink('nowhere', to);
    expect((await backUpPlants({ from, to }))._unsafeUnwrapErr()).toMatchObject({ kind: 'exists' });
  });

  it.each(['-wal', '-journal'])(
    'creates no file beside a %s file, which SQLite would apply to it',
    async (suffix) => {
      await openStore();
      await writeFile(to + suffix, 'of an old file');
      expect((await backUpPlants({ from, to }))._unsafeUnwrapErr()).toMatchObject({
        kind: 'exists',
        path: to + suffix,
      });
    },
  );

  describe('with replace', () => {
    const backUp = (onProgress?: () => void) =>
      backUpPlants({ from, to, replace: true, ...(onProgress && { onProgress }) });

    it('replaces a file once the copy is complete', async () => {
      await openLargeStore();
      await writeFile(to, 'mine');
      // A reader leaves an empty -wal file.
      await writeFile(`${to}-wal`, '');
      const during = new Set<string>();
      const onProgress = () => void during.add(readFileSync(to, 'latin1').slice(0, 4));
      expect((await backUp(onProgress))._unsafeUnwrap()).toMatchObject({ plants: 16 });
      expect([...during][0]).toBe('mine');
      expect((await idsIn(to)).size).toBe(16);
      expect(existsSync(`${to}.partial`)).toBe(false);
    });

    it.each([
      ['plants.db', 'while a repository has it open', async () => openStore()],
      ['plants.db', 'after a repository had it open', async () => (await openStore()).close()],
      ['link.db', 'that is a link to the file of a repository', async () => symlink(from, to)],
      ['backup.db', 'with a -wal file', async () => writeFile(`${to}-wal`, 'plants')],
    ])('does not replace a file %s %s', async (file, _, prepare) => {
      to = join(folder, file);
      await (await openStore()).close();
      if (file === 'backup.db') await writeFile(to, 'mine');
      await prepare();
      const before = await readdir(folder);
      expect((await backUp())._unsafeUnwrapErr()).toEqual({
        kind: 'exists',
        path: to,
        message: `${to} is or was the database of a host, not a backup; name another file`,
      });
      expect(await readdir(folder)).toEqual(before);
    });

    it.each(['wal', 'shm', 'owner', 'journal'])(
      'does not replace the -%s file of a database',
      async (suffix) => {
        const store = await openStore();
        to = `${from}-${suffix}`;
        const before = await readdir(folder);
        expect((await backUp())._unsafeUnwrapErr()).toEqual({
          kind: 'exists',
          path: to,
          message: `${to} belongs to the database of a host; name another file`,
        });
        expect(await readdir(folder)).toEqual(before);
        expect((await store.create({ id: 1_000n, name: 'Monstera' })).isOk()).toBe(true);
      },
    );

    it('does not replace a file that a repository opens during the backup', async () => {
      await openLargeStore();
      await writeFile(to, 'mine');
      const onProgress = () => writeFileSync(`${to}-owner`, '');
      expect((await backUp(onProgress))._unsafeUnwrapErr()).toMatchObject({ kind: 'exists' });
      expect(await readFile(to, 'utf8')).toBe('mine');
      expect(existsSync(`${to}.partial`)).toBe(false);
    });

    it('does not replace a file beside a -journal file, which SQLite would apply to it', async () => {
      await openStore();
      await writeFile(`${to}-journal`, 'of an old file');
      expect((await backUp())._unsafeUnwrapErr()).toMatchObject({
        kind: 'exists',
        path: `${to}-journal`,
      });
    });

    it('does not replace a folder', async () => {
      await openStore();
      await mkdir(to);
      expect((await backUp())._unsafeUnwrapErr()).toMatchObject({
        kind: 'cannot-open',
        message: expect.stringContaining('is a folder') as unknown,
      });
    });
  });

  it('does not remove its source', async () => {
    await (await openStore()).close();
    await rename(from, `${to}.partial`);
    expect((await backUpPlants({ from: `${to}.partial`, to }))._unsafeUnwrapErr()).toMatchObject({
      kind: 'exists',
      path: `${to}.partial`,
    });
    expect(await idsIn(`${to}.partial`)).toEqual(new Set());
  });

  it('fails when the partial path is a folder', async () => {
    await openStore();
    await mkdir(`${to}.partial`);
    expect((await backUpPlants({ from, to }))._unsafeUnwrapErr()).toMatchObject({
      path: `${to}.partial`,
      message: expect.stringContaining('is a folder') as unknown,
    });
  });

  it('removes the partial file of an interrupted backup', async () => {
    const repository = await openStore();
    await repository.create({ id: 7n, name });
    await writeFile(`${to}.partial`, 'incomplete copy');
    (await backUpPlants({ from, to }))._unsafeUnwrap();
    expect(await idsIn(to)).toEqual(new Set([7n]));
  });

  it('fails when the database or the folder of the copy does not exist', async () => {
    expect((await backUpPlants({ from, to }))._unsafeUnwrapErr()).toMatchObject({
      kind: 'missing',
      message: `${from} does not exist; correct the path`,
    });
    await openStore();
    const inMissingFolder = join(folder, 'no/backup.db');
    expect((await backUpPlants({ from, to: inMissingFolder }))._unsafeUnwrapErr()).toMatchObject({
      kind: 'cannot-open',
      message: expect.stringContaining('does not exist; make it first') as unknown,
    });
  });

  it('does not back up a damaged file', async () => {
    const repository = await openStore();
    for (let id = 0n; id < 100n; id += 1n) await repository.create({ id, name });
    await repository.close();
    const file = await openFile(from, 'r+');
    await file.write(Buffer.alloc(4_096, 0xff), 0, 4_096, 5 * 4_096);
    await file.close();
    expect((await backUpPlants({ from, to }))._unsafeUnwrapErr()).toMatchObject({
      kind: 'damaged',
      path: from,
      message: `${from} is damaged; restore it from a backup`,
    });
    expect((await readdir(folder)).filter((one) => one.startsWith('backup.db'))).toEqual([]);
  });
});
