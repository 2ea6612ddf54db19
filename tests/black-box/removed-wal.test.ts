import { execFileSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFaultyDisk } from '@plantstore/test-support/faulty-disk';
import { expect, it } from 'vitest';
import { newFolder, post, spawnProgram, startProgram, untilOutput } from './program.ts';
import { runCommand } from './run-command.ts';

/** Makes writes to a database file fail. */
const failWith = (errorNumber: number) => async (_: string, faults: string) => {
  await writeFile(faults, `write ${errorNumber} .db 1000 0`);
  return async () => rm(faults);
};

/** Runs another program with the path, until it is ended. It prints a line once it has begun. */
const runOther = async (command: readonly [string, ...string[]], path: string) => {
  const other = spawnProgram({ command: [...command, path] });
  await untilOutput(other, (stdout) => stdout !== '');
  return async () => {
    other.process.kill('SIGKILL');
    await other.exited;
  };
};

/** Reads in a transaction. */
const read = async (path: string) => {
  const script = `
    const database = new (require('node:sqlite').DatabaseSync)(process.argv[1]);
    database.exec('BEGIN; SELECT count(*) FROM plants');
    console.log('begun');
    setInterval(() => database, 1_000);
  `;
  return runOther([process.execPath, '-e', script], path);
};

/** Holds the lock of a checkpoint (WAL_CKPT_LOCK), as another program does during its own. */
const holdCheckpoint = async (path: string) => {
  const script = `
import fcntl, sys, time
file = open(sys.argv[1], 'r+')
fcntl.lockf(file, fcntl.LOCK_EX, 1, 121)
print('held', flush=True)
time.sleep(600)
`;
  return runOther(['python3', '-c', script], `${path}-shm`);
};

it.for([
  ['its disk is full', failWith(28)],
  ['its disk fails', failWith(5)],
  ['another program reads it', read],
  ['another program runs a checkpoint', holdCheckpoint],
] as const)(
  'no plant is lost when the WAL file is removed while the database file cannot get its plants, because %s',
  async ([, hinder], { skip }) => {
    const disk = await makeFaultyDisk();
    if (disk === undefined)
      throw new Error('this machine has no C compiler to build the faulty disk');
    if (hinder === holdCheckpoint && !hasPython()) skip('this machine has no python3');
    const faults = join(await newFolder(), 'faults');
    const args = ['--database', `sqlite:${disk.path}`];
    const server = await startProgram({ args, env: { ...disk.env, DISK_FAULTS: faults } });
    // A page each, at least.
    const name = 'x'.repeat(5_000);
    const create = async (id: number) => post(server.url, `{"id":${id},"name":"${name}"}`);
    expect(await create(1)).toMatchObject({ status: 200 });
    const end = await hinder(disk.path, faults);
    expect(await create(2)).toMatchObject({ status: 200 });
    await rm(`${disk.path}-wal`);
    for (const id of [3, 4]) expect(await create(id)).toMatchObject({ status: 503 });
    expect(server.stdout()).toContain('only this process has its plants; do not stop it');
    await end();
    await expect.poll(async () => create(5)).toMatchObject({ status: 200 });
    server.process.kill('SIGKILL');
    await server.exited;
    const { status, stdout } = await runCommand(['export', ...args], {});
    const ids = [...stdout.matchAll(/^\{"id":(\d+)/gm)].map(([, id]) => Number(id));
    expect([status, ids]).toEqual([0, expect.arrayContaining([1, 2, 5])]);
  },
);

function hasPython(): boolean {
  try {
    execFileSync('python3', ['--version']);
    return true;
  } catch {
    return false;
  }
}
