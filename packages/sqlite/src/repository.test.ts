import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeRepository } from '@plantstore/core/repository-contract';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { requiresPosix } from '@plantstore/test-support/requires';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeStore } from '../test/store-file.ts';
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

describe('openSqliteRepository', () => {
  it('openSqliteRepository creates the file, and leaves no WAL file after close', async () => {
    const path = await plantsFile();
    const repository = await open(path);
    await repository.create({ id: 7n, name: 'Monstera' });
    await repository.close();
    expect((await stat(path)).size).toBeGreaterThan(0);
    await expect(stat(`${path}-wal`)).rejects.toThrow('ENOENT');
  });

  it('a SQLite repository reports each commit, the number of waiting creates, and the size of the WAL file', async () => {
    const commits: number[] = [];
    const path = await plantsFile();
    const opened = await openSqliteRepository({
      path,
      onCommit: ({ plants }) => void commits.push(plants),
    });
    const repository = opened._unsafeUnwrap();
    const creating = [1n, 2n, 3n].map(async (id) => repository.create({ id, name: 'Monstera' }));
    await new Promise(process.nextTick);
    expect(repository.waiting()).toBe(3);
    await Promise.all(creating);
    await new Promise(setImmediate);
    expect(repository.waiting()).toBe(0);
    expect(commits).toEqual([3]);
    expect(repository.walSize()).toBe((await stat(`${path}-wal`)).size);
    await repository.close();
    expect(repository.walSize()).toBe(0);
  });

  it('a SQLite repository returns store-unavailable after close, and can be closed twice', async () => {
    const repository = await open(await plantsFile());
    await repository.close();
    await repository.close();
    const refused = await repository.create({ id: 7n, name: 'Monstera' });
    expect(refused._unsafeUnwrapErr().kind).toBe('store-unavailable');
  });

  it('a SQLite repository creates concurrent plants in call order, also after a conflict', async () => {
    const repository = await open(await plantsFile());
    onTestFinished(async () => void (await repository.close()));
    const names = ['Monstera', 'Ficus', 'Monstera'];
    const results = await Promise.all(
      names.map(async (name) => repository.create({ id: 7n, name })),
    );
    expect(results.map((result) => result.isOk())).toEqual([true, false, true]);
  });
});

it.each([
  ['that is not used', [], 'opened'],
  ['after a create', ['Monstera'], 'opened, created'],
])('an open SQLite repository %s does not keep the process alive', async (_, names, stdout) => {
  const program = fileURLToPath(new URL('../test/leave-open.ts', import.meta.url));
  const path = await plantsFile();
  const argv = ['--no-warnings', program, path, ...names];
  expect(await promisify(execFile)(process.execPath, argv, { timeout: 60_000 })).toEqual({
    stdout,
    stderr: '',
  });
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
