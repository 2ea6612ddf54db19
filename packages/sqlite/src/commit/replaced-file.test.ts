import { copyFile, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { beforeEach, describe, expect, it } from 'vitest';
import { connectOther } from '../../test/other-program.ts';
import { skipReopenPause } from '../../test/skip-reopen-pause.ts';
import { countPlants, makeStore, plants } from '../../test/store-file.ts';
import { backUpPlants } from '../read/back-up-plants.ts';
import { openSqliteRepository, type SqliteRepository } from '../repository.ts';

const count = 200;
const plant = { id: BigInt(count), name: 'x' };

let root = '';
let path = '';
beforeEach(async () => {
  root = await makeFolder();
  await mkdir(inRoot('data'));
  path = inRoot('data/plants.db');
});
const inRoot = (name: string) => join(root, name);

/** Opens a repository with all plants, of which a backup has half, and a copy those of the file. */
const fill = async (name = path) => {
  makeStore(path, plants(0, count / 2));
  (await backUpPlants({ from: path, to: inRoot('backup.db') }))._unsafeUnwrap();
  const repository = (await openSqliteRepository({ path: name }))._unsafeUnwrap();
  await Promise.all(plants(count / 2, count).map(async (one) => repository.create(one)));
  await copyFile(path, inRoot('copy.db'));
  return repository;
};

/** How the repository notices that its file was replaced. Each returns a message. */
const create = async (repository: SqliteRepository) => {
  const error = (await repository.create(plant))._unsafeUnwrapErr();
  return 'reason' in error ? error.reason : error.kind;
};
const check = async (repository: SqliteRepository) =>
  (await repository.check())._unsafeUnwrapErr().reason;
const createTwice = async (repository: SqliteRepository) => {
  await create(repository);
  skipReopenPause();
  return create(repository);
};
const stop = async (repository: SqliteRepository) => (await repository.close()).replaced;

type Replacing = {
  readonly act: () => Promise<unknown>;
  readonly use: (repository: SqliteRepository) => Promise<string | undefined>;
  /** The file that contains every plant afterwards; without one, the WAL file stays as it is. */
  readonly complete?: string;
  /** Follows the message; then every plant is at the path. */
  readonly follow?: () => Promise<unknown>;
};

const replacing: Readonly<Record<string, () => Replacing>> = {
  'moves the file alone': () => ({
    act: async () => rename(path, `${path}.moved`),
    use: createTwice,
    complete: `${path}.moved`,
    follow: async () => rename(`${path}.moved`, path),
  }),
  'moves its folder': () => ({
    act: async () => rename(inRoot('data'), inRoot('elsewhere')),
    use: check,
    complete: inRoot('elsewhere/plants.db'),
    follow: async () => rename(inRoot('elsewhere'), inRoot('data')),
  }),
  'moves the file, and links its path to it': () => ({
    act: async () => rename(path, inRoot('moved')).then(async () => symlink(inRoot('moved'), path)),
    use: create,
    complete: path,
  }),
  'moves a copy over it': () => ({
    act: async () => rename(inRoot('copy.db'), path),
    use: createTwice,
    follow: async () => {},
  }),
  'moves a backup over it': () => ({
    act: async () => rename(inRoot('backup.db'), path),
    use: create,
    follow: async () => rename(inRoot('copy.db'), path),
  }),
  'removes it': () => ({
    act: async () => rm(path),
    use: stop,
    follow: async () => rename(inRoot('copy.db'), path),
  }),
  'removes it, and puts a copy there after a check': () => ({
    act: async () => rm(path),
    use: async (repository) => {
      await check(repository);
      // The thread has ended; a new file may get the inode of the one that is removed.
      await copyFile(inRoot('backup.db'), path);
      skipReopenPause();
      return check(repository);
    },
    follow: async () => rename(inRoot('copy.db'), path),
  }),
  'removes it, and makes an empty one': () => ({
    act: async () => rm(path).then(async () => writeFile(path, '')),
    use: check,
    follow: async () => rename(inRoot('copy.db'), path),
  }),
};

describe('a file that is replaced while a repository has it open', () => {
  it.each(Object.entries(replacing))('no plant is lost when an operator %s', async (name, of) => {
    const { act, use, complete, follow } = of();
    const repository = await fill();
    const wal = await readFile(`${path}-wal`);
    await act();
    expect(await use(repository)).toContain('was removed, renamed or replaced while it was');
    const { replaced } = await repository.close();
    expect(replaced).toContain(`${path}-wal; keep both, stop the server`);
    if (complete === undefined) expect(await readFile(`${path}-wal`)).toEqual(wal);
    else expect(countPlants(complete)).toBe(count);
    if (complete === undefined && !name.includes('copy')) {
      // Starting the server again does not make it worse.
      const opened = await openSqliteRepository({ path });
      expect(opened._unsafeUnwrapErr().kind).toBe('wal-of-another-file');
      expect(await readFile(`${path}-wal`)).toEqual(wal);
    }
    await follow?.();
    expect(countPlants(path)).toBe(count);
  });

  it('no plant is lost when the path is a link that is switched to another file', async () => {
    const link = inRoot('current.db');
    await symlink(path, link);
    const repository = await fill(link);
    await rm(link);
    await symlink(inRoot('backup.db'), link);
    expect(await create(repository)).toContain(`${link} was removed, renamed or replaced`);
    await repository.close();
    expect(countPlants(path)).toBe(count);
  });

  it('a file that is replaced after a checkpoint keeps its WAL file, which the next commit would overwrite', async () => {
    const repository = await fill();
    // Makes the WAL file due to be overwritten.
    connectOther(path).run('PRAGMA wal_checkpoint(PASSIVE)');
    await copyFile(path, inRoot('copy.db'));
    const wal = await readFile(`${path}-wal`);
    await rename(inRoot('copy.db'), path);
    expect((await repository.create(plant)).isErr()).toBe(true);
    expect(await readFile(`${path}-wal`)).toEqual(wal);
    await repository.close();
    expect(countPlants(path)).toBe(count);
  });
});
