import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFaultyDisk } from '@plantstore/test-support/faulty-disk';
import { expect, it } from 'vitest';
import { newFolder, post, startProgram } from './program.ts';
import { runCommand } from './run-command.ts';

it.each([
  ['is full', 28],
  ['fails', 5],
])(
  'no plant is lost when the WAL file is removed while the disk of the database file %s',
  async (_, errorNumber) => {
    const disk = await makeFaultyDisk();
    if (disk === undefined)
      throw new Error('this machine has no C compiler to build the faulty disk');
    const faults = join(await newFolder(), 'faults');
    const args = ['--database', `sqlite:${disk.path}`];
    const server = await startProgram({ args, env: { ...disk.env, DISK_FAULTS: faults } });
    const create = async (id: number) => post(server.url, `{"id":${id},"name":"x"}`);
    expect(await create(1)).toMatchObject({ status: 200 });
    await writeFile(faults, `write ${errorNumber} .db 1000 0`);
    await rm(`${disk.path}-wal`);
    for (const id of [2, 3]) expect(await create(id)).toMatchObject({ status: 503 });
    await rm(faults);
    await expect.poll(async () => create(4)).toMatchObject({ status: 200 });
    server.process.kill('SIGKILL');
    await server.exited;
    const { stdout } = await runCommand(['export', ...args], {});
    expect(stdout).toContain('{"id":1,"name":"x"}\n');
    expect(stdout).toContain('{"id":4,"name":"x"}\n');
  },
);
