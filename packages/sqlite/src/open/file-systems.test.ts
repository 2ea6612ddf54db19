import { execFile } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { faultyDisk } from '@plantstore/test-support/faulty-disk';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { requiresPosix } from '@plantstore/test-support/requires';
import { mayMount } from '@plantstore/test-support/small-disk';
import { expect, it } from 'vitest';
import { makeStore } from '../../test/store-file.ts';
import { openSqliteRepository } from '../repository.ts';
import { checkDatabasePath } from './path-faults.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../../test/open-each-way.ts', import.meta.url));
const { ENOLCK, EOPNOTSUPP, EINVAL, ENOSYS, ENODEV, EACCES, EPERM } = constants.errno;
const { ENOSPC, EDQUOT, EMFILE, ENFILE, EIO, EROFS, ENAMETOOLONG } = constants.errno;

type Errors = Readonly<Record<'start' | 'check' | 'backup', string>>;

/** Opens, checks and copies a file on a disk that lacks a call, and returns the errors. */
const openEachWay = async (path: string, env: Readonly<Record<string, string>>) => {
  const { stdout } = await run(process.execPath, [program, path], {
    env: { ...process.env, ...env },
  });
  return JSON.parse(stdout) as Errors;
};

const [locks, memory, sync] = [
  [/^no-locks: .*files cannot be locked/, ['start', 'check', 'backup']],
  [/^no-shared-memory: .*processes cannot share memory/, ['start', 'check', 'backup']],
  // Reading syncs nothing.
  [/^no-sync: .*a folder cannot be synced/, ['start', 'backup']],
] as const;

it.for([
  ...[ENOLCK, EOPNOTSUPP, EINVAL, ENOSYS, EACCES, EPERM].map(
    (error) => ['lock', error, locks] as const,
  ),
  ['map', ENODEV, memory],
  ...[EINVAL, EPERM, EOPNOTSUPP].map((error) => ['truncate', error, memory] as const),
  ...[EINVAL, EOPNOTSUPP, ENOSYS].map((error) => ['folder', error, sync] as const),
] as const)(
  'a file system without "%s" (error %i) is named by each command, which advises a local disk',
  async ([call, error, [message, commands]], { skip }) => {
    const disk = await faultyDisk(skip);
    makeStore(disk.path);
    const errors = await openEachWay(disk.path, { ...disk.env, DISK_LACKS: `${call} ${error}` });
    const failed = Object.entries(errors).filter(([, text]) => text !== 'ok');
    expect(failed.map(([command]) => command)).toEqual(commands);
    for (const [, text] of failed) {
      expect(text).toMatch(message);
      expect(text).toMatch(/such as a network file system; move it to a local disk$/);
    }
    const names = await readdir(dirname(disk.path));
    expect(names.filter((name) => !name.startsWith('plants.db'))).toEqual([]);
  },
);

it.for([
  [ENOSPC, /^disk-full: .* is full/],
  [EDQUOT, /^disk-full: .*quota/],
  [EMFILE, /too many open files; raise the limit/],
  [ENFILE, /file table overflow; raise the limit/],
  [EIO, /^input-output: .*the disk reports an error/],
  [EROFS, /^read-only: .*read-only file system/],
  [ENAMETOOLONG, /name too long/],
] as const)(
  'a file that cannot be created because of error %i is reported as that, and the message names no missing file',
  async ([error, message], { skip }) => {
    const disk = await faultyDisk(skip);
    const env = { ...disk.env, DISK_LACKS: `create ${error}` };
    const { start } = await openEachWay(disk.path, env);
    expect(start).toMatch(message);
    expect(start).not.toMatch(/-owner|remove it/);
  },
);

const openOnFewInodes = async (inodes: number, folder: string, ...args: readonly string[]) => {
  const script = `mount -t tmpfs -o nr_inodes=${inodes} tmpfs "$0" && : > "$0/a" && exec "$@"`;
  const command = ['--map-root-user', '--mount', 'sh', '-c', script, folder];
  const { stdout } = await run('unshare', [...command, process.execPath, program, ...args]);
  return JSON.parse(stdout) as Errors;
};
const withoutInode = /^disk-full: .*has no inode left; remove files/;

it.for([3, 4, 5])(
  'a disk with %i inodes is reported as one without an inode left',
  async (inodes, { skip }) => {
    const folder = await makeFolder();
    skip(!(await mayMount(folder)), 'this user cannot mount a small disk');
    const { start } = await openOnFewInodes(inodes, folder, join(folder, 'plants.db'));
    expect(start).toMatch(withoutInode);
  },
);

it('a backup to a disk without an inode left is refused as that', async ({ skip }) => {
  const [folder, file] = [await makeFolder(), join(await makeFolder(), 'plants.db')];
  skip(!(await mayMount(folder)), 'this user cannot mount a small disk');
  makeStore(file);
  const { backup } = await openOnFewInodes(2, folder, file, join(folder, 'copy.db'));
  expect(backup).toMatch(withoutInode);
});

const pathOf = async (name: number, path: number | undefined): Promise<string> => {
  let folder = await makeFolder();
  if (path === undefined) return join(folder, 'ü'.repeat(name / 2) + 'x'.repeat(name % 2));
  while (folder.length < path - 100) folder = join(folder, 'x'.repeat(60));
  await mkdir(folder, { recursive: true });
  return join(folder, 'x'.repeat(path - folder.length - 1));
};

it.each([
  ...[243, 247, 248, 250, 255, 300].map((length) => [length, 'name', 247] as const),
  ...[497, 498, 499, 505, 512, 520].map((length) => [length, 'path', 498] as const),
])(
  '%i bytes of a %s are opened, or refused by a start and a check of the settings',
  requiresPosix,
  async (length, what, max) => {
    const path = await (what === 'name' ? pathOf(length, undefined) : pathOf(0, length));
    const results = [checkDatabasePath(path), await openSqliteRepository({ path })] as const;
    await results[1].map(async (repository) => repository.close()).unwrapOr(undefined);
    for (const result of results) {
      expect(result.isOk()).toBe(length <= max);
      if (result.isErr())
        expect(result.error).toMatchObject({
          kind: 'cannot-open',
          message: expect.stringMatching(
            `too long: it has ${length} bytes.*choose a shorter one`,
          ) as unknown,
        });
    }
  },
);
