import { chmod, chown, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { requiresPosix, requiresRoot } from '@plantstore/test-support/requires';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openerInOtherProcess } from '../../test/open-in-other-process.ts';
import { openSqliteRepository } from '../repository.ts';

const openInOtherProcess = openerInOtherProcess();

let path = '';
beforeEach(async () => {
  const folder = await makeFolder();
  await chmod(folder, 0o777);
  path = join(folder, 'plants.db');
});

const open = async (name: string) => {
  const repository = (await openSqliteRepository({ path: name }))._unsafeUnwrap();
  onTestFinished(async () => void (await repository.close()));
  return repository;
};

describe('owner lock', () => {
  // Windows does not have file modes.
  it(
    'the owner lock cannot be acquired without write access to its file, because two processes could share it',
    requiresPosix,
    async () => {
      await writeFile(path, '');
      await chmod(path, 0o666);
      await writeFile(`${path}-owner`, '');
      await chmod(`${path}-owner`, 0o444);
      expect(await openInOtherProcess(path)).toEqual({
        kind: 'cannot-open',
        message: expect.stringMatching(
          /plants\.db-owner cannot be locked.*; it must be an empty file to which this user may write$/,
        ) as unknown,
      });
    },
  );

  // Windows does not have file modes.
  it('the owner lock can be acquired after the database was read-only', requiresPosix, async () => {
    await writeFile(path, '');
    await chmod(path, 0o444);
    expect(await openInOtherProcess(path)).toMatchObject({ kind: 'read-only' });
    await chmod(path, 0o644);
    await open(path);
    expect((await stat(`${path}-owner`)).mode & 0o200).toBe(0o200);
  });

  it('the owner lock has the owner of the database when root opens it', requiresRoot, async () => {
    await writeFile(path, '');
    await chown(path, 65_534, 65_534);
    await open(path);
    expect(await stat(`${path}-owner`)).toMatchObject({ uid: 65_534, gid: 65_534 });
  });

  it.each([
    ['has content', async () => writeFile(`${path}-owner`, 'buy milk\n'.repeat(100))],
    ['is a folder', async () => mkdir(`${path}-owner`)],
  ])('an error names the file of the owner lock when that file %s', async (_, make) => {
    await make();
    expect((await openSqliteRepository({ path }))._unsafeUnwrapErr()).toMatchObject({
      kind: 'cannot-open',
      message: expect.stringContaining(`${path}-owner`) as unknown,
    });
  });

  it('the owner lock is an empty file without a journal', async () => {
    await open(path);
    const names = await readdir(join(path, '..'));
    expect(names.filter((name) => name.includes('-owner'))).toEqual(['plants.db-owner']);
    expect((await stat(`${path}-owner`)).size).toBe(0);
  });

  it('the owner lock is beside the target of a symbolic link, also before the target exists', async () => {
    const folder = join(path, '..');
    await mkdir(join(folder, 'real'));
    await symlink(join('real', 'file.db'), path);
    const repository = await open(path);
    expect((await repository.create({ id: 7n, name: 'Monstera' })).isOk()).toBe(true);
    const real = join(folder, 'real', 'file.db');
    expect((await openSqliteRepository({ path: real }))._unsafeUnwrapErr().kind).toBe('locked');
    expect((await readdir(folder)).toSorted()).toEqual(['plants.db', 'real']);
  });

  it('the owner lock lets one of two repositories open a new file at the same time', async () => {
    const opened = await Promise.all([
      openSqliteRepository({ path }),
      openSqliteRepository({ path }),
    ]);
    const errors = opened.flatMap((result) => (result.isErr() ? [result.error.kind] : []));
    for (const result of opened) if (result.isOk()) await result.value.close();
    expect(errors).toEqual(['locked']);
  });

  it('the owner lock can be acquired when its file remains from an earlier process', async () => {
    await writeFile(`${path}-owner`, '');
    const repository = await open(path);
    expect((await repository.create({ id: 1n, name: 'Monstera' })).isOk()).toBe(true);
  });

  // Windows does not have file modes.
  it('the owner lock has the permissions of the database file', requiresPosix, async () => {
    await writeFile(path, '');
    await chmod(path, 0o660);
    await open(path);
    for (const name of ['-owner', '-wal', '-shm']) {
      expect(((await stat(`${path}${name}`)).mode & 0o777).toString(8)).toBe('660');
    }
  });
});
