import { chmod, chown, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { requiresPosix, requiresRoot } from '@plantstore/test-support/requires';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openSqliteRepository } from '../repository.ts';

let path = '';
beforeEach(async () => {
  path = join(await makeFolder(), 'plants.db');
});

const open = async () => {
  const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
  onTestFinished(async () => void (await repository.close()));
  return repository;
};

describe('owner lock', () => {
  it('the owner lock has the owner of the database when root opens it', requiresRoot, async () => {
    await writeFile(path, '');
    await chown(path, 65_534, 65_534);
    await open();
    expect(await stat(`${path}-owner`)).toMatchObject({ uid: 65_534, gid: 65_534 });
  });

  // Windows does not have file modes.
  it(
    'the owner lock has the permissions of the database file, also if it remained',
    requiresPosix,
    async () => {
      await writeFile(path, '');
      await chmod(path, 0o660);
      const repository = await open();
      for (const name of ['-owner', '-wal', '-shm'])
        expect(((await stat(`${path}${name}`)).mode & 0o777).toString(8)).toBe('660');
      await repository.close();
      expect((await readdir(join(path, '..'))).toSorted()).toEqual([
        'plants.db',
        'plants.db-owner',
      ]);
      expect((await (await open()).create({ id: 7n, name: 'Monstera' })).isOk()).toBe(true);
    },
  );

  it('an owner lock with content is named, and is used once it is empty', async () => {
    await writeFile(`${path}-owner`, 'a note');
    const error = (await openSqliteRepository({ path }))._unsafeUnwrapErr();
    expect(error).toMatchObject({ kind: 'unexpected', path });
    expect(error.message).toContain(`${path}-owner beside it must be empty`);
    await writeFile(`${path}-owner`, '');
    expect((await (await open()).create({ id: 7n, name: 'Monstera' })).isOk()).toBe(true);
  });

  it('the owner lock is beside the target of a symbolic link, also before the target exists', async () => {
    const folder = join(path, '..');
    await mkdir(join(folder, 'real'));
    await symlink(join('real', 'file.db'), path);
    const repository = await open();
    expect((await repository.create({ id: 7n, name: 'Monstera' })).isOk()).toBe(true);
    const real = join(folder, 'real', 'file.db');
    expect((await openSqliteRepository({ path: real }))._unsafeUnwrapErr().kind).toBe('locked');
    expect((await readdir(folder)).toSorted()).toEqual(['plants.db', 'real']);
  });
});
