import { execFile, spawnSync } from 'node:child_process';
import { closeSync } from 'node:fs';
import { rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { mayMount, onSmallDisk } from '@plantstore/test-support/small-disk';
import { expect, it, onTestFinished, type TestContext } from 'vitest';
import { descriptorsOf, fileOf } from '../test/descriptors-of.ts';
import { countPlants, makeStore } from '../test/store-file.ts';
import { openSqliteRepository } from './repository.ts';

const plant = { id: 7n, name: 'Monstera' };

const openInFolder = async () => {
  const path = join(await makeFolder(), 'plants.db');
  makeStore(path);
  const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
  onTestFinished(async () => void (await repository.close()));
  return { repository, path };
};

/** Runs a program of the tests on a small disk, and returns what it prints. */
const runOnSmallDisk = async (program: URL, skip: TestContext['skip']): Promise<unknown> => {
  const folder = await makeFolder();
  skip(!(await mayMount(folder)), 'this user cannot mount a small disk on this machine');
  const command = [process.execPath, fileURLToPath(program), folder];
  const { stdout } = await onSmallDisk(folder, command);
  return JSON.parse(stdout);
};

it('the check of a SQLite repository succeeds while plants can be stored, stores none, and does not open a closed one', async () => {
  const { repository, path } = await openInFolder();
  const results = await Promise.all([
    repository.check(),
    repository.create(plant),
    repository.check(),
    repository.create({ ...plant, name: 'Ficus' }),
    repository.check(),
  ]);
  expect(results.map((result) => result.isOk())).toEqual([true, true, true, false, true]);
  const checking = repository.check();
  const closed = repository.close();
  const after = repository.check();
  expect((await checking).isOk()).toBe(true);
  expect((await after)._unsafeUnwrapErr().reason).toBe('the database is closed');
  await closed;
  expect(countPlants(path)).toBe(1);
});

it('the check of a SQLite repository fails while a path cannot be examined, names no other file, and succeeds afterwards with the same thread', async () => {
  const { repository, path } = await openInFolder();
  const folder = dirname(path);
  await rename(folder, `${folder}.away`);
  await symlink(folder, folder);
  for (const result of [await repository.check(), await repository.create(plant)]) {
    expect(result._unsafeUnwrapErr()).toMatchObject({
      kind: 'store-unavailable',
      reason: expect.stringMatching(/^the database cannot be examined: ELOOP/) as unknown,
    });
  }
  await rm(folder);
  await rename(`${folder}.away`, folder);
  expect((await repository.check()).isOk()).toBe(true);
  expect((await repository.create(plant)).isOk()).toBe(true);
  expect(await repository.close()).toEqual({ walLeft: undefined, replaced: undefined });
});

it('the check of a SQLite repository fails where a create fails because of a limit of the size of files, and succeeds without it', async ({
  skip,
}) => {
  skip(spawnSync('prlimit', ['--version']).status !== 0, 'this machine has no prlimit');
  const program = fileURLToPath(new URL('../test/check-with-limit.ts', import.meta.url));
  const args = [program, join(await makeFolder(), 'plants.db'), '4096'];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(JSON.parse(stdout)).toEqual({
    before: [true, true],
    limited: [false, false],
    after: [true, true],
  });
});

it('the check of a SQLite repository and a start fail on a full disk, as a create does, and succeed once there is space; tmpfs is named', async ({
  skip,
}) => {
  const program = new URL('../test/check-on-full-disk.ts', import.meta.url);
  const printed = await runOnSmallDisk(program, skip);
  const works = [true, true, 'opened'];
  const full = [false, false, 'disk-full'];
  const warnings = [expect.stringMatching(/plants\.db is in memory \(tmpfs\)/)];
  expect(printed).toEqual({ before: works, full, after: works, warnings });
});

it('a WAL file that is removed while the disk is full is not copied in part, so that a kill leaves a sound file', async ({
  skip,
}) => {
  const program = new URL('../test/remove-wal-on-full-disk.ts', import.meta.url);
  const printed = await runOnSmallDisk(program, skip);
  expect(printed).toEqual({
    full: [false, false, false],
    found: { integrity_check: 'ok' },
    plants: 100,
    after: [false, true],
    all: 301,
  });
});

it('a repository whose descriptors were closed by other code can be closed, and the process goes on', async ({
  skip,
}) => {
  skip(process.platform !== 'linux', 'needs /proc/self/fd');
  const { repository, path } = await openInFolder();
  expect((await repository.create(plant)).isOk()).toBe(true);
  for (const descriptor of descriptorsOf(path))
    // Without that of the -shm file, SQLite would wait for locks for 20 s.
    if (!fileOf(descriptor).endsWith('-shm')) closeSync(Number(descriptor));
  await repository.close();
  makeStore(path);
  expect(countPlants(path)).toBe(1);
});
