import { link, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDevice, requiresDevices } from '@plantstore/test-support/make-device';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it } from 'vitest';
import { checkDatabasePath } from './faults.ts';
import { openSqliteRepository } from '../repository.ts';

const newFolder = async () => {
  const folder = await makeFolder();
  return folder;
};

it('checkDatabasePath accepts a missing file and a file, also by a link, and creates nothing', async () => {
  const folder = await newFolder();
  await mkdir(join(folder, 'data'));
  await symlink(join(folder, 'data/plants.db'), join(folder, 'link.db'));
  expect(checkDatabasePath(join(folder, 'link.db')).isOk()).toBe(true);
  expect(await readdir(join(folder, 'data'))).toEqual([]);
  await writeFile(join(folder, 'data/plants.db'), '');
  expect(checkDatabasePath(join(folder, 'link.db')).isOk()).toBe(true);
  expect(await readdir(join(folder, 'data'))).toEqual(['plants.db']);
});

it('checkDatabasePath refuses a path in a missing folder, below a file, or of a folder', async () => {
  const folder = await newFolder();
  await writeFile(join(folder, 'file'), '');
  for (const path of [join(folder, 'no/plants.db'), join(folder, 'file/plants.db'), folder]) {
    expect(checkDatabasePath(path)._unsafeUnwrapErr()).toMatchObject({ kind: 'cannot-open', path });
  }
});

it('checkDatabasePath refuses a device', requiresDevices, async () => {
  const path = makeDevice(await newFolder(), 'null');
  expect(checkDatabasePath(path)._unsafeUnwrapErr()).toMatchObject({ kind: 'cannot-open', path });
});

it('checkDatabasePath refuses a file with several hard links and a link to itself, as opening them does', async () => {
  const folder = await newFolder();
  await writeFile(join(folder, 'file.db'), '');
  await link(join(folder, 'file.db'), join(folder, 'other.db'));
  await symlink('loop.db', join(folder, 'loop.db'));
  for (const path of [join(folder, 'other.db'), join(folder, 'loop.db')]) {
    const opened = await openSqliteRepository({ path });
    const { kind, message } = opened._unsafeUnwrapErr();
    expect(checkDatabasePath(path)._unsafeUnwrapErr()).toMatchObject({ kind, message, path });
  }
});
