import { execFile } from 'node:child_process';
import {
  chmod,
  chown,
  copyFile,
  lstat,
  mkdir,
  readdir,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mayMount, onSmallDisk } from '@plantstore/test-support/small-disk';
import { sample } from '@plantstore/test-support/sample';
import { requiresRoot } from '@plantstore/test-support/requires';
import { describe, expect, it } from 'vitest';
import { bin, newFolder, post, startProgram } from './program.ts';
import { digestOf, runCommand, writePlants } from './run-command.ts';
import { runIn } from '../../packages/plantstore/test/run-in-folder.ts';

const run = promisify(execFile);

type User = { readonly uid: number; readonly gid: number };
const root: User = { uid: 0, gid: 0 };
const user: User = { uid: 65_534, gid: 65_534 };

/** Whether a user may run this clone. */
const canStartAs = async (one: User): Promise<boolean> =>
  run(process.execPath, ['--check', bin], one).then(
    () => true,
    () => false,
  );

/** Returns each file below a folder: its path, inode, and digest. SQLite changes only the -shm file when it reads. */
const filesIn = async (folder: string) => {
  const names = (await readdir(folder, { recursive: true })).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const { ino, size } = await lstat(path);
      const digest = name.endsWith('-shm') ? '' : await digestOf(folder, name).catch(String);
      return { name, ino, size, digest };
    }),
  );
};

/** A folder with a backup, with a database that was killed with plants in its WAL file, and with files of the user. */
const newStore = async () => {
  const cwd = await newFolder();
  const server = await startProgram({ args: ['--database', `sqlite:${join(cwd, 'plants.db')}`] });
  await post(server.url, '{"id":1,"name":"a"}');
  await runCommand(['backup', 'backup.db'], { cwd });
  await post(server.url, '{"id":2,"name":"b"}');
  server.process.kill('SIGKILL');
  await server.exited;
  await copyFile(join(cwd, 'plants.db'), join(cwd, 'lone.db'));
  await writeFile(join(cwd, 'mine'), 'mine');
  await writeFile(join(cwd, 'backup.db.partial'), 'mine');
  await writeFile(join(cwd, 'plants.db.restoring'), 'mine');
  await writeFile(join(cwd, 'beside-wal'), 'mine');
  await symlink('missing', join(cwd, 'link'));
  await mkdir(join(cwd, 'folder'));
  return cwd;
};

/** Runs a command line whose files are in a folder, in this process. */
const runLine = async (folder: string, line: string) => {
  const [command = '', ...rest] = line.split(' ');
  const args = rest.map((word) =>
    word.startsWith('--') ? word : word.replace(/^(sqlite:)?/, `$1${folder}/`),
  );
  return runIn(folder, [command, ...args]);
};

/** Arguments that each command must refuse in the folder of `newStore`. */
const refused = [
  'backup mine',
  'backup link',
  'backup folder',
  'backup folder/',
  'backup beside',
  'backup plants.db',
  'backup plants.db-wal',
  'backup plants.db-owner',
  'backup backup.db',
  'backup no/such/folder.db',
  'backup copy.db --database sqlite:mine',
  'backup copy.db --database sqlite:link',
  'restore backup.db',
  'restore plants.db',
  'restore missing.db',
  'restore mine --database sqlite:new.db',
  'restore folder --database sqlite:new.db',
  'restore backup.db --database sqlite:beside',
  'restore backup.db --database sqlite:link',
  'restore backup.db --database sqlite:no/such/folder.db',
  'export --database sqlite:mine',
  'check --database sqlite:mine',
];

/** Arguments that succeed there, and the files that they create. */
const accepted = [
  ['backup copy.db', ['copy.db']],
  ['restore backup.db --database sqlite:new.db', ['new.db']],
  ['export', []],
  ['export --database sqlite:backup.db', []],
  ['check', []],
  ['check --database sqlite:backup.db', []],
] as const;

it('no command replaces, changes or removes a file that it did not create', async () => {
  const cwd = await newStore();
  let before = await filesIn(cwd);
  for (const line of refused) {
    const { status, stdout, stderr } = await runLine(cwd, line);
    expect([line, status, stdout]).toEqual([line, 1, '']);
    expect(stderr).toMatch(/^plantstore: .*\n$/);
    expect([line, await filesIn(cwd)]).toEqual([line, before]);
  }
  for (const [line, created] of accepted) {
    const { status } = await runLine(cwd, line);
    expect([line, status]).toEqual([line, 0]);
    const after = await filesIn(cwd);
    const others = after.filter(({ name }) => !created.some((one) => one === name));
    expect([line, others]).toEqual([line, before]);
    expect(after).toHaveLength(before.length + created.length);
    before = after;
  }
});

/** Commands that read a backup, with a folder to which they may write. */
const readers = (backup: string, writable: string) => [
  ['check', '--database', `sqlite:${backup}`],
  ['export', '--database', `sqlite:${backup}`],
  ['restore', backup, '--database', `sqlite:${writable}/restored.db`],
  ['backup', join(writable, 'copy.db'), '--database', `sqlite:${backup}`],
];

describe('backup', () => {
  const newBackup = async () => {
    const cwd = await newFolder();
    const folder = join(cwd, 'backups');
    await mkdir(folder);
    await writePlants(join(cwd, 'in.ndjson'), 10);
    await runCommand(['import', 'in.ndjson'], { cwd });
    expect((await runCommand(['backup', 'backups/b.db'], { cwd })).status).toBe(0);
    await mkdir(join(cwd, 'out'));
    return { cwd, folder, out: join(cwd, 'out') };
  };

  it('a backup is checked, exported, restored and copied from a medium that cannot be written', async ({
    skip,
  }) => {
    const { cwd, folder, out } = await newBackup();
    const mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0"';
    const isolated = ['--map-root-user', '--mount', 'sh', '-c'];
    const mounted = run('unshare', [...isolated, mount, folder]);
    if (
      !(await mounted.then(
        () => true,
        () => false,
      ))
    )
      return skip('this user cannot mount');
    const before = await filesIn(folder);
    for (const args of readers(join(folder, 'b.db'), out)) {
      const shell = [...isolated, `${mount} && ! touch "$0/x" 2>&- && exec "$@"`, folder];
      const command = [process.execPath, bin, ...args];
      const { stdout } = await run('unshare', [...shell, ...command], { cwd, maxBuffer: 2 ** 24 });
      expect(stdout.split('\n').length).toBeGreaterThan(1);
    }
    expect(await filesIn(folder)).toEqual(before);
    expect(await readdir(out)).toEqual(['copy.db', 'restored.db']);
  });

  it('a backup is checked, exported, restored and copied by another user, from a folder of mode 0555', async ({
    skip,
  }) => {
    if (process.getuid?.() !== 0) return skip('only root can run a command as another user');
    if (!(await canStartAs(user))) return skip('other users may not read this clone');
    const { cwd, folder, out } = await newBackup();
    await chmod(folder, 0o555);
    await chmod(out, 0o777);
    await chmod(cwd, 0o755);
    const before = await filesIn(folder);
    for (const args of readers(join(folder, 'b.db'), out)) {
      const command = [bin, ...args];
      const { stdout } = await run(process.execPath, command, {
        cwd: out,
        ...user,
        maxBuffer: 2 ** 24,
      });
      expect(stdout.split('\n').length).toBeGreaterThan(1);
    }
    expect(await filesIn(folder)).toEqual(before);
    expect(await readdir(out)).toEqual(['copy.db', 'restored.db']);
  });
});

describe('restore as root', requiresRoot, () => {
  const owners: [string, User, User, number][] = [
    ['the user, in a folder of another user', user, { uid: 65_533, gid: user.gid }, 0o770],
    ['the user, in a folder of the user', user, user, 0o700],
    ['root, in a folder of the user', root, user, 0o700],
  ];
  it.for(sample(owners, 3))(
    'a server of another user starts after restore as root of a backup of %s',
    async ([, owner, folderOwner, mode], { skip }) => {
      if (!(await canStartAs(user))) return skip('other users may not read this clone');
      const cwd = await newFolder();
      await chmod(cwd, 0o755);
      await runCommand(['import'], { cwd, stdin: '{"id":1,"name":"a"}\n' });
      await runCommand(['backup', 'b.db'], { cwd });
      await chown(join(cwd, 'b.db'), owner.uid, owner.gid);
      const folder = join(cwd, 'data');
      await mkdir(folder);
      await chown(folder, folderOwner.uid, folderOwner.gid);
      await chmod(folder, mode);
      const database = ['--database', `sqlite:${join(folder, 'plants.db')}`];
      expect((await runCommand(['restore', 'b.db', ...database], { cwd })).status).toBe(0);
      const server = await startProgram({ args: database, user });
      expect((await post(server.url, '{"id":2,"name":"b"}')).status).toBe(200);
      server.process.kill('SIGTERM');
      expect(await server.exited).toBe(0);
      expect((await runCommand(['check', ...database], { cwd })).stdout).toContain(': 2 plants, ');
    },
  );
});

it(
  'a user other than root backs up and restores in a folder of another user',
  requiresRoot,
  async ({ skip }) => {
    if (!(await canStartAs(user))) return skip('other users may not read this clone');
    const cwd = await newFolder();
    await chown(cwd, 65_533, user.gid);
    await chmod(cwd, 0o777);
    await writePlants(join(cwd, 'in.ndjson'), 10);
    const runAs = async (...args: readonly string[]) =>
      run(process.execPath, [bin, ...args], { cwd, ...user });
    await runAs('import', 'in.ndjson');
    await runAs('backup', 'b.db');
    await runAs('restore', 'b.db', '--database', 'sqlite:restored.db');
    const { stdout } = await runAs('export', '--database', 'sqlite:restored.db');
    expect(stdout).toBe((await runAs('export')).stdout);
    for (const name of ['plants.db', 'b.db', 'restored.db'])
      expect((await lstat(join(cwd, name))).uid).toBe(user.uid);
    // A database of another user that this one may write.
    await chown(join(cwd, 'plants.db'), 65_533, user.gid);
    await chmod(join(cwd, 'plants.db'), 0o666);
    await rm(join(cwd, 'plants.db-owner'), { force: true });
    expect((await runAs('import', 'in.ndjson')).stdout).toContain('10 already there');
  },
);

it('a backup to a full disk fails, and leaves nothing', async ({ skip }) => {
  const cwd = await newFolder();
  const disk = join(cwd, 'disk');
  await mkdir(disk);
  if (!(await mayMount(disk))) return skip('this user cannot mount');
  const lines = Array.from(
    { length: 300 },
    (_, id) => `{"id":${id},"name":"${'x'.repeat(10_000)}"}`,
  );
  await runCommand(['import'], { cwd, stdin: lines.join('\n') });
  const backup = ['backup', join(disk, 'b.db'), '--database', `sqlite:${join(cwd, 'plants.db')}`];
  const command = [process.execPath, bin, ...backup];
  // The disk is gone when its shell has ended.
  const list = '"$@" 2>&1; echo "status $?"; ls -A "$0"';
  const { stdout } = await onSmallDisk(disk, ['sh', '-c', list, disk, ...command]);
  expect(stdout).toBe(
    `plantstore: the disk that contains ${join(disk, 'b.db')} is full, has no inode left (df -i), or a quota is exceeded; free some space\nstatus 1\n`,
  );
});
