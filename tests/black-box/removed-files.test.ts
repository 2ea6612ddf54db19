import { link, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFaultyDisk } from '@plantstore/test-support/faulty-disk';
import { expect, it } from 'vitest';
import { newFolder, post, spawnProgram, startProgram, untilOutput } from './program.ts';
import { runCommand } from './run-command.ts';

/** A database of a server, the file of the faults of its disk, and a create that must fail. */
type Case = { path: string; faults: string; expectRefused: () => Promise<void> };

/** Makes writes to a database file fail. */
const failWith =
  (errorNumber: number) =>
  async ({ faults }: Case) => {
    await writeFile(faults, `write ${errorNumber} .db 1000 0`);
    return async () => rm(faults);
  };

/** Runs a statement in another program, which has the file open until it has run another one. */
const openWith =
  (first: string, last: string) =>
  async ({ path }: Case) => {
    const script = `
    const database = new (require('node:sqlite').DatabaseSync)(process.argv[1]);
    database.exec('${first}; SELECT count(*) FROM plants');
    console.log('open');
    process.once('SIGTERM', () => process.exit(database.exec('${last}')));
    setInterval(() => {}, 1_000);
  `;
    const other = spawnProgram({ command: [process.execPath, '-e', script, path] });
    await untilOutput(other, (stdout) => stdout !== '');
    return async () => {
      other.process.kill();
      await other.exited;
    };
  };

/** Makes others restart the WAL file through shared memory that the server does not have, then acts. */
const restartWal = (act: (one: Case) => Promise<void>) => async (one: Case) => {
  const { path } = one;
  await link(`${path}-shm`, `${path}.old-shm`);
  const end = await openWith('SELECT 1', 'SELECT 1')(one);
  const restart = 'CREATE TABLE notes (note); PRAGMA wal_checkpoint(RESTART)';
  const again = openWith(restart, 'INSERT INTO notes VALUES (zeroblob(99999))');
  return async () => {
    const endAgain = await again(one);
    await endAgain();
    await end();
    await act(one);
  };
};

const moveAwayAndBack = async ({ path, expectRefused }: Case) => {
  await rename(path, `${path}.away`);
  await expectRefused();
  await rename(`${path}.away`, path);
};

const failToOpenWal = async ({ faults, expectRefused }: Case) => {
  await writeFile(faults, 'open 24 -wal 1000 0');
  // Without the fault, the second one would succeed.
  await expectRefused();
  await expectRefused();
  await rm(faults);
};

const putOldBack = async ({ path }: Case) => rename(`${path}.old-shm`, `${path}-shm`);

it.for([
  ['-wal', 'its disk is full', failWith(28)],
  ['-wal', 'its disk fails', failWith(5)],
  ['-wal', 'another program reads it', openWith('BEGIN', 'COMMIT')],
  ['-wal', 'another program has it open', openWith('SELECT 1', 'SELECT 1')],
  ['-shm', 'another program writes to it', openWith('SELECT 1', 'CREATE TABLE notes (note)')],
  ['-shm', 'others wrote to it, and it was moved away and back', restartWal(moveAwayAndBack)],
  ['-shm', 'others wrote to it, and its WAL file could not be opened', restartWal(failToOpenWal)],
  ['-shm', 'others wrote to it, and the old shared memory was put back', restartWal(putOldBack)],
] as const)(
  'no plant is lost when the %s file is removed while the database file cannot be closed: %s',
  async ([suffix, , hinder]) => {
    const disk = await makeFaultyDisk();
    if (disk === undefined)
      throw new Error('this machine has no C compiler to build the faulty disk');
    const faults = join(await newFolder(), 'faults');
    const args = ['--database', `sqlite:${disk.path}`];
    const server = await startProgram({ args, env: { ...disk.env, DISK_FAULTS: faults } });
    // A page each, at least.
    const name = 'x'.repeat(5_000);
    const create = async (id: number) => post(server.url, `{"id":${id},"name":"${name}"}`);
    expect(await create(1)).toMatchObject({ status: 200 });
    const expectRefused = async () => expect(await create(3)).toMatchObject({ status: 503 });
    const end = await hinder({ path: disk.path, faults, expectRefused });
    expect(await create(2)).toMatchObject({ status: 200 });
    await rm(disk.path + suffix);
    await expectRefused();
    await expectRefused();
    expect(server.stdout()).toContain('do not stop the server until creates succeed');
    await end();
    await expect.poll(async () => create(4)).toMatchObject({ status: 200 });
    server.process.kill('SIGKILL');
    await server.exited;
    const { status, stdout } = await runCommand(['export', ...args], {});
    const ids = [...stdout.matchAll(/^\{"id":(\d+)/gm)].map(([, id]) => Number(id));
    expect([status, ids]).toEqual([0, expect.arrayContaining([1, 2, 4])]);
  },
);
