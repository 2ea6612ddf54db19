import { closeSync, openSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFaultyDisk } from '@plantstore/test-support/faulty-disk';
import { expect, it } from 'vitest';
import { newFolder, spawnProgram } from './program.ts';
import { runCommand } from './run-command.ts';

it('import names the first line that it could not create', async ({ skip }) => {
  const disk = await makeFaultyDisk();
  if (disk === undefined) return skip('this machine has no C compiler to build the faulty disk');
  const args = ['import', '--database', `sqlite:${disk.path}`];
  const cwd = await newFolder();
  expect((await runCommand(args, { cwd, stdin: '{"id":1,"name":"a"}\n' })).status).toBe(0);
  const stdin = [2, 3, 4].map((id) => `{"id":${id},"name":"a"}\n`).join('');
  // The first three syncs are those of the opening.
  const env = { ...disk.env, DISK_FAILS: 'wal 4 1000' };
  const { status, stderr } = await runCommand(args, { cwd, env, stdin });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^plantstore: stopped at line 1: .*; run it again to continue$/m);
  // A record that is not in the database is not reported as created, although a later one cannot be read.
  await writeFile(join(cwd, 'in.csv'), 'id,name\n5,a\n6,"a"b\n');
  const unread = await runCommand([...args, 'in.csv'], { cwd, env });
  expect([unread.status, unread.stderr]).toEqual([
    1,
    expect.stringMatching(/^plantstore: stopped at line 2: .*; run it again to continue$/m),
  ]);
  expect(unread.stderr).not.toContain('are in the database');
});

it('import creates no database if standard input is a folder', async () => {
  const cwd = await newFolder();
  const folder = openSync(cwd, 'r');
  const { exited, stderr } = spawnProgram({ args: ['import'], cwd, stdin: folder });
  closeSync(folder);
  expect(await exited).toBe(1);
  expect(stderr()).toBe(
    'plantstore: cannot read standard input: illegal operation on a directory\n',
  );
  expect(await readdir(cwd)).toEqual([]);
});
