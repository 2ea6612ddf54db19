import {
  copyFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { sample } from '@plantstore/test-support/sample';
import type { Result } from 'neverthrow';
import { beforeEach, describe, expect, it } from 'vitest';
import { runInOtherProgram } from '../../test/other-program.ts';
import { skipReopenPause } from '../../test/skip-reopen-pause.ts';
import { countPlants, makeStore, plants } from '../../test/store-file.ts';
import { backUpPlants } from '../read/back-up-plants.ts';
import { openSqliteRepository, type SqliteRepository } from '../repository.ts';

const count = 200;
let root = '';
beforeEach(async () => {
  root = await makeFolder();
  await mkdir(inRoot('data'));
});
const inRoot = (name: string) => join(root, name);

const plant = { id: BigInt(count), name: 'x' };

const reasonOf = (result: Result<unknown, { readonly kind: string; readonly reason?: string }>) =>
  result.match(
    () => undefined,
    (error) => error.reason,
  );

const folder = () => inRoot('data');

/** Opens a repository with all plants, of which a backup has half. */
const fill = async (path: string) => {
  makeStore(path, plants(0, count / 2));
  (await backUpPlants({ from: path, to: inRoot('backup.db') }))._unsafeUnwrap();
  const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
  await Promise.all(plants(count / 2, count).map(async (one) => repository.create(one)));
  return repository;
};

const replaceOpen = async (path: string, command: string) => {
  const repository = await fill(path);
  const replacement = await commands[command]?.(path);
  if (replacement === undefined) throw new Error('unknown command');
  return { repository, replacement };
};

const moveAll = async (from: string, to: string) => {
  for (const name of await readdir(from)) await rename(join(from, name), join(to, name));
};

type Replacement = {
  /** The file that contains every plant afterwards, without a further command. */
  readonly complete?: string;
  /** Whether the WAL file must stay as it is. */
  readonly keepsWal?: true;
  /** Follows the message; then every plant is at the path. */
  readonly follow?: () => Promise<void>;
};

/** Commands of an operator, while a repository has the file open. */
const commands: Readonly<Record<string, (path: string) => Promise<Replacement>>> = {
  async 'moves the file alone'(path) {
    const moved = `${path}.moved`;
    await rename(path, moved);
    return { complete: moved, follow: async () => rename(moved, path) };
  },
  async 'moves all its files'() {
    const moved = inRoot('elsewhere');
    await mkdir(moved);
    await moveAll(folder(), moved);
    const follow = async () => moveAll(moved, folder());
    return { complete: join(moved, 'plants.db'), follow };
  },
  async 'moves its folder'() {
    const moved = inRoot('elsewhere');
    await rename(folder(), moved);
    const follow = async () => rename(moved, folder());
    return { complete: join(moved, 'plants.db'), follow };
  },
  async 'moves the file, and links its path to it'(path) {
    await rename(path, `${path}.moved`);
    await symlink(`${path}.moved`, path);
    return { complete: path };
  },
  async 'copies the file, and moves the copy over it'(path) {
    await copyFile(path, `${path}.copy`);
    await rename(`${path}.copy`, path);
    return { complete: path, keepsWal: true };
  },
  async 'removes the file'(path) {
    await copyFile(path, inRoot('copy.db'));
    await rm(path);
    const follow = async () => rename(inRoot('copy.db'), path);
    return { keepsWal: true, follow };
  },
  async 'removes the file, and makes an empty one'(path) {
    await copyFile(path, inRoot('copy.db'));
    await rm(path);
    await writeFile(path, '');
    const follow = async () => rename(inRoot('copy.db'), path);
    return { keepsWal: true, follow };
  },
  async 'moves the file, and puts a backup in its place'(path) {
    await rename(path, `${path}.moved`);
    await rename(inRoot('backup.db'), path);
    const follow = async () => rename(`${path}.moved`, path);
    return { keepsWal: true, follow };
  },
  async 'moves a backup over the file'(path) {
    await copyFile(path, inRoot('copy.db'));
    await rename(inRoot('backup.db'), path);
    const follow = async () => rename(inRoot('copy.db'), path);
    return { keepsWal: true, follow };
  },
};

/** How the repository notices it. Each returns a message. */
const uses: Readonly<
  Record<string, (repository: SqliteRepository) => Promise<string | undefined>>
> = {
  'a create': async (repository) => reasonOf(await repository.create(plant)),
  'a check': async (repository) => reasonOf(await repository.check()),
  'a second create': async (repository) => {
    await repository.create(plant);
    skipReopenPause();
    return reasonOf(await repository.create(plant));
  },
  'a stop': async (repository) => (await repository.close()).replaced,
};

const cases = Object.keys(commands).flatMap((command) =>
  Object.keys(uses).map((use) => [command, use] as const),
);

describe('a file that is replaced while a repository has it open', () => {
  it.each(sample(cases, 3))(
    'no plant is lost when an operator %s, and %s notices it',
    async (command, use) => {
      const path = join(folder(), 'plants.db');
      const { repository, replacement } = await replaceOpen(path, command);
      const wal = replacement.keepsWal && (await readFile(`${path}-wal`));
      expect(await uses[use]?.(repository)).toContain(
        'was removed, renamed or replaced while it was',
      );
      const { replaced } = await repository.close();
      expect(replaced).toContain(`${path}-wal; keep both, stop the server`);
      if (wal) expect(await readFile(`${path}-wal`)).toEqual(wal);
      if (replacement.complete === undefined) {
        // Starting the server again does not make it worse.
        const opened = await openSqliteRepository({ path });
        expect(opened._unsafeUnwrapErr()).toMatchObject({
          kind: 'wal-of-another-file',
          message: expect.stringContaining(`${path}-wal`) as unknown,
        });
        expect(await readFile(`${path}-wal`)).toEqual(wal);
      } else {
        expect(countPlants(replacement.complete)).toBe(count);
      }
      if (replacement.follow === undefined) return;
      await replacement.follow();
      expect(countPlants(path)).toBe(count);
    },
  );

  it('no plant is lost when a file is moved alone, gets plants elsewhere, and is put back', async () => {
    const path = join(folder(), 'plants.db');
    const { repository } = await replaceOpen(path, 'moves the file alone');
    await repository.create(plant);
    await repository.close();
    makeStore(`${path}.moved`, plants(count, 20 * count));
    await rename(`${path}.moved`, path);
    expect(countPlants(path)).toBe(20 * count);
  });

  it('no plant is lost when the path is a link that is switched to another file', async () => {
    const path = inRoot('current.db');
    await symlink(join(folder(), 'plants.db'), path);
    const repository = await fill(path);
    await rm(path);
    await symlink(inRoot('backup.db'), path);
    const reason = reasonOf(await repository.create(plant));
    expect(reason).toContain(`${path} was removed, renamed or replaced while it was in use`);
    await repository.close();
    expect(countPlants(join(folder(), 'plants.db'))).toBe(count);
  });

  it('a file that is replaced after a checkpoint keeps its WAL file, which the next commit would overwrite', async () => {
    const path = join(folder(), 'plants.db');
    const repository = await fill(path);
    // Makes the WAL file due to be overwritten.
    runInOtherProgram(path, 'PRAGMA wal_checkpoint(PASSIVE)');
    await copyFile(path, `${path}.copy`);
    const wal = await readFile(`${path}-wal`);
    await rename(`${path}.copy`, path);
    expect((await repository.create(plant)).isErr()).toBe(true);
    expect(await readFile(`${path}-wal`)).toEqual(wal);
    await repository.close();
    expect(countPlants(path)).toBe(count);
  });
});
