import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { cp, mkdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeRepository } from '@plantstore/core/repository-contract';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { requiresPosix } from '@plantstore/test-support/requires';
import { describe, expect, it } from 'vitest';
import { countPlants, makeStore } from '../test/store-file.ts';
import { openSqliteRepository } from './repository.ts';

const open = async (path: string) => (await openSqliteRepository({ path }))._unsafeUnwrap();

const plantsFile = async () => join(await makeFolder(), 'plants.db');

describeRepository({ describe, it, expect }, 'the SQLite repository', async () => {
  const path = await plantsFile();
  makeStore(path);
  let repository = await open(path);
  return {
    repository,
    reopen: async () => {
      await repository.close();
      repository = await open(path);
      return repository;
    },
    dispose: async () => void (await repository.close()),
  };
});

it('a SQLite repository creates the file, reports each commit, waiting creates and the WAL file, and removes that when it is closed', async () => {
  const commits: number[] = [];
  const path = await plantsFile();
  const onCommit = ({ plants }: { plants: number }) => void commits.push(plants);
  const repository = (await openSqliteRepository({ path, onCommit }))._unsafeUnwrap();
  // In call order, also after a conflict.
  const names = ['Monstera', 'Ficus', 'Monstera'];
  const creating = names.map(async (name) => repository.create({ id: 7n, name }));
  await new Promise(process.nextTick);
  expect(repository.waiting()).toBe(3);
  const results = await Promise.all(creating);
  expect(results.map((result) => result.isOk())).toEqual([true, false, true]);
  await new Promise(setImmediate);
  expect(repository.waiting()).toBe(0);
  expect(commits).toEqual([3]);
  expect(repository.walSize()).toBe((await stat(`${path}-wal`)).size);
  for (const _again of [1, 2]) await repository.close();
  expect(repository.walSize()).toBe(0);
  await expect(stat(`${path}-wal`)).rejects.toThrow('ENOENT');
  const refused = await repository.create({ id: 7n, name: 'Monstera' });
  expect(refused._unsafeUnwrapErr().kind).toBe('store-unavailable');
});

it('an open SQLite repository does not keep the process alive after a create', async () => {
  const program = fileURLToPath(new URL('../test/leave-open.ts', import.meta.url));
  const argv = ['--no-warnings', program, await plantsFile()];
  const run = promisify(execFile)(process.execPath, argv, { timeout: 60_000 });
  expect(await run).toEqual({ stdout: 'created', stderr: '' });
});

it('a SQLite repository and one that is refused leave no file open', requiresPosix, async () => {
  const path = await plantsFile();
  const openFiles = () => readdirSync('/dev/fd').length;
  const openAndClose = async () => {
    const repository = await open(path);
    expect((await openSqliteRepository({ path })).isErr()).toBe(true);
    await repository.close();
  };
  await openAndClose();
  const before = openFiles();
  await openAndClose();
  await expect.poll(openFiles).toBeLessThanOrEqual(before);
});

it('a repository can be used from its sources, in a clone that was not built', async () => {
  const folder = await makeFolder();
  const packages = fileURLToPath(new URL('../..', import.meta.url));
  for (const name of ['core', 'sqlite']) {
    for (const part of ['src', 'package.json'])
      await cp(join(packages, name, part), join(folder, name, part), { recursive: true });
  }
  await symlink(join(packages, 'core/node_modules'), join(folder, 'core/node_modules'));
  await mkdir(join(folder, 'sqlite/node_modules/@plantstore'), { recursive: true });
  await symlink(join(folder, 'core'), join(folder, 'sqlite/node_modules/@plantstore/core'));
  const neverthrow = 'sqlite/node_modules/neverthrow';
  await symlink(join(packages, neverthrow), join(folder, neverthrow));
  const path = join(folder, 'plants.db');
  const program = `import { openSqliteRepository } from '${folder}/sqlite/src/index.ts';
    const repository = (await openSqliteRepository({ path: '${path}' }))._unsafeUnwrap();
    await repository.create({ id: 7n, name: 'Monstera' });
    await repository.close();`;
  const args = ['--conditions=@plantstore/source', '--input-type=module', '--eval', program];
  await promisify(execFile)(process.execPath, args);
  expect(countPlants(path)).toBe(1);
});
