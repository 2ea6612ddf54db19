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

/** Holds the lock of a checkpoint (WAL_CKPT_LOCK), as another program does during its own. */
const holdCheckpoint = async (path: string) => {
  const script = `
import fcntl, sys, time
file = open(sys.argv[1], 'r+')
fcntl.lockf(file, fcntl.LOCK_EX, 1, 121)
print('held', flush=True)
time.sleep(600)
`;
  const other = spawnProgram({ command: ['python3', '-c', script, `${path}-shm`] });
  await untilOutput(other, (stdout) => stdout !== '');
  return async () => {
    other.process.kill('SIGKILL');
    await other.exited;
  };
};

it.for([
  ['its disk is full', failWith(28)],
  ['its disk fails', failWith(5)],
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
    const create = async (id: number) => post(server.url, `{"id":${id},"name":"x"}`);
    expect(await create(1)).toMatchObject({ status: 200 });
    const end = await hinder(disk.path, faults);
    await rm(`${disk.path}-wal`);
    for (const id of [2, 3]) expect(await create(id)).toMatchObject({ status: 503 });
    await end();
    await expect.poll(async () => create(4)).toMatchObject({ status: 200 });
    server.process.kill('SIGKILL');
    await server.exited;
    const { stdout } = await runCommand(['export', ...args], {});
    expect(stdout).toContain('{"id":1,"name":"x"}\n');
    expect(stdout).toContain('{"id":4,"name":"x"}\n');
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
