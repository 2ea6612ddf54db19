import { execFile, spawnSync } from 'node:child_process';
import { closeSync, readdirSync } from 'node:fs';
import { readlink, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { mayMount, onSmallDisk } from '@plantstore/test-support/small-disk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { countPlants, makeStore } from '../test/store-file.ts';
import { openSqliteRepository } from './repository.ts';

const run = promisify(execFile);
const plant = { id: 7n, name: 'Monstera' };

const openInFolder = async () => {
  const path = join(await makeFolder(), 'plants.db');
  makeStore(path);
  const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
  onTestFinished(async () => void (await repository.close()));
  return { repository, path };
};

describe('check of a SQLite repository', () => {
  it('the check of a SQLite repository succeeds while plants can be stored, and stores none', async () => {
    const { repository } = await openInFolder();
    const results = await Promise.all([
      repository.check(),
      repository.create({ id: 7n, name: 'Monstera' }),
      repository.check(),
      repository.create({ id: 7n, name: 'Ficus' }),
      repository.check(),
    ]);
    expect(results.map((result) => result.isOk())).toEqual([true, true, true, false, true]);
    expect((await repository.create({ id: 0n, name: 'x' })).isOk()).toBe(true);
  });

  it('the check of a SQLite repository fails when the file was moved away, and succeeds when it is put back', async () => {
    const { repository, path } = await openInFolder();
    await rename(path, `${path}.moved`);
    expect((await repository.check())._unsafeUnwrapErr()).toMatchObject({
      kind: 'store-unavailable',
      reason: expect.stringContaining('was removed, renamed or replaced while') as unknown,
    });
    await rename(`${path}.moved`, path);
    // The repository tries to open the file once a second.
    while ((await repository.check()).isErr()) await sleep(2);
    expect((await repository.create({ id: 7n, name: 'Monstera' })).isOk()).toBe(true);
  });

  it('the check of a SQLite repository fails when the repository is closed, and does not open it again', async () => {
    const { repository, path } = await openInFolder();
    const checking = [repository.check(), repository.check()];
    const closed = repository.close();
    const after = repository.check();
    expect((await Promise.all(checking)).map((result) => result.isOk())).toEqual([true, true]);
    expect((await after)._unsafeUnwrapErr().reason).toBe('the database is closed');
    await closed;
    const again = (await openSqliteRepository({ path }))._unsafeUnwrap();
    await again.close();
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
    const path = join(await makeFolder(), 'plants.db');
    const program = fileURLToPath(new URL('../test/check-with-limit.ts', import.meta.url));
    const { stdout } = await run(process.execPath, [program, path, '4096']);
    expect(JSON.parse(stdout)).toEqual({
      before: [true, true],
      limited: [false, false],
      after: [true, true],
    });
  });

  it('the check of a SQLite repository and a start fail on a full disk, as a create does, and succeed once there is space; tmpfs is named', async ({
    skip,
  }) => {
    const folder = await makeFolder();
    skip(!(await mayMount(folder)), 'this user cannot mount a small disk on this machine');
    const program = fileURLToPath(new URL('../test/check-on-full-disk.ts', import.meta.url));
    const { stdout } = await onSmallDisk(folder, [process.execPath, program, folder]);
    const works = [true, true, 'opened'];
    const full = [false, false, 'disk-full'];
    const warnings = [expect.stringMatching(/plants\.db is in memory \(tmpfs\)/)];
    expect(JSON.parse(stdout)).toEqual({ before: works, full, after: works, warnings });
  });
});

it('a repository whose descriptors were closed by other code can be closed, and the process goes on', async ({
  skip,
}) => {
  skip(process.platform !== 'linux', 'needs /proc/self/fd');
  const { repository, path } = await openInFolder();
  expect((await repository.create(plant)).isOk()).toBe(true);
  for (const descriptor of readdirSync('/proc/self/fd')) {
    const target = await readlink(`/proc/self/fd/${descriptor}`).catch(() => '');
    if (target.startsWith(path)) closeSync(Number(descriptor));
  }
  await repository.close();
  makeStore(path);
  expect(countPlants(path)).toBe(1);
});
