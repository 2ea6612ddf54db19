import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { copyFile, lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mayMount, onSmallDisk } from '@plantstore/test-support/small-disk';
import { expect, it } from 'vitest';
import { bin, newFolder, post, startProgram } from './program.ts';
import { runIn } from '../../packages/plantstore/test/run-in-folder.ts';

const run = promisify(execFile);

/** Returns each file below a folder: its path, inode, and digest. SQLite changes only the -shm file when it reads. */
const filesIn = async (folder: string) => {
  const names = (await readdir(folder, { recursive: true })).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const { ino, size } = await lstat(path);
      const bytes = name.endsWith('-shm') ? '' : await readFile(path).catch(String);
      const digest = hash('sha256', bytes);
      return { name, ino, size, digest };
    }),
  );
};

/** A folder with a backup, with a database that was killed with plants in its WAL file, and with files of the user. */
const newStore = async () => {
  const cwd = await newFolder();
  const server = await startProgram({ args: ['--database', `sqlite:${join(cwd, 'plants.db')}`] });
  await post(server.url, '{"id":1,"name":"a"}');
  await runIn(cwd, ['backup', join(cwd, 'backup.db')]);
  await post(server.url, '{"id":2,"name":"b"}');
  server.process.kill('SIGKILL');
  await server.exited;
  await copyFile(join(cwd, 'plants.db'), join(cwd, 'lone.db'));
  for (const name of ['mine', 'backup.db.partial', 'plants.db.restoring', 'beside-wal'])
    await writeFile(join(cwd, name), 'mine');
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
  'backup folder/',
  'backup beside',
  'backup plants.db-wal',
  'backup plants.db-owner',
  'backup no/such/folder.db',
  'backup copy.db --database sqlite:mine',
  'restore plants.db',
  'restore mine --database sqlite:new.db',
  'restore backup.db --database sqlite:beside',
  'restore backup.db --database sqlite:link',
  'export --database sqlite:mine',
  'check --database sqlite:mine',
];

/** Arguments that succeed there, and the files that they create. */
const accepted = [
  ['backup copy.db', ['copy.db']],
  ['restore backup.db --database sqlite:new.db', ['new.db']],
  ['export', []],
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

it('a backup is checked, exported, restored and copied from a medium that cannot be written', async ({
  skip,
}) => {
  const cwd = await newFolder();
  const folder = join(cwd, 'backups');
  for (const name of ['backups', 'out']) await mkdir(join(cwd, name));
  await runIn(cwd, ['import'], '{"id":1,"name":"a"}\n');
  await runIn(cwd, ['backup', join(folder, 'b.db')]);
  const before = await filesIn(folder);
  const mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0"';
  const runMounted = async (script: string, ...command: readonly string[]) =>
    run('unshare', ['--map-root-user', '--mount', 'sh', '-c', script, folder, ...command], { cwd });
  await runMounted(mount).catch(() => skip('this user cannot mount'));
  for (const args of [
    ['check', '--database', 'sqlite:backups/b.db'],
    ['export', '--database', 'sqlite:backups/b.db'],
    ['restore', 'backups/b.db', '--database', 'sqlite:out/restored.db'],
    ['backup', 'out/copy.db', '--database', 'sqlite:backups/b.db'],
  ]) {
    const script = `${mount} && ! touch "$0/x" 2>&- && exec "$@"`;
    const { stdout } = await runMounted(script, process.execPath, bin, ...args);
    expect(stdout.split('\n').length).toBeGreaterThan(1);
  }
  expect(await filesIn(folder)).toEqual(before);
  expect(await readdir(join(cwd, 'out'))).toEqual(['copy.db', 'restored.db']);
});

it('a backup to a full disk fails, and leaves nothing', async ({ skip }) => {
  const cwd = await newFolder();
  const disk = join(cwd, 'disk');
  await mkdir(disk);
  if (!(await mayMount(disk))) return skip('this user cannot mount');
  const line = (id: number) => `{"id":${id},"name":"${'x'.repeat(10_000)}"}`;
  await runIn(cwd, ['import'], Array.from({ length: 300 }, (_, id) => line(id)).join('\n'));
  const backup = ['backup', join(disk, 'b.db'), '--database', `sqlite:${join(cwd, 'plants.db')}`];
  // The disk is gone when its shell has ended.
  const list = '"$@" 2>&1; echo "status $?"; ls -A "$0"';
  const { stdout } = await onSmallDisk(disk, [
    'sh',
    '-c',
    list,
    disk,
    process.execPath,
    bin,
    ...backup,
  ]);
  expect(stdout).toBe(
    `plantstore: the disk that contains ${join(disk, 'b.db')} is full, has no inode left (df -i), or a quota is exceeded; free some space\nstatus 1\n`,
  );
});
