import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mayMount, onSmallDisk } from '@plantstore/test-support/small-disk';
import { expect, it, onTestFinished } from 'vitest';

const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  return folder;
};

const noMount = 'this machine lets no user mount a small disk';

/** Runs a program on a small disk and returns what it prints. */
const runOn = async (folder: string, program: URL): Promise<unknown> => {
  const file = fileURLToPath(program);
  const command = [process.execPath, '--conditions=@plantstore/source', file, folder];
  return JSON.parse((await onSmallDisk(folder, command)).stdout);
};

it('a full disk is reported, loses no plant that was answered, and is got over', async ({
  skip,
}) => {
  const folder = await newFolder();
  skip(!(await mayMount(folder)), noMount);
  const program = new URL('../test/on-a-small-disk.ts', import.meta.url);
  const told = (await runOn(folder, program)) as { kept: number };
  expect(told).toEqual({
    openedWhenFull: 'disk-full',
    refusedKind: 'store-unavailable',
    reason: 'the database cannot be written: disk-full',
    gotOver: true,
    kept: told.kept,
    found: told.kept,
  });
  expect(told.kept).toBeGreaterThan(0);
});

it('closing on a full disk reports the log that is left, until there is space', async ({
  skip,
}) => {
  const folder = await newFolder();
  skip(!(await mayMount(folder)), noMount);
  const program = new URL('../test/stop-on-a-full-disk.ts', import.meta.url);
  expect(await runOn(folder, program)).toEqual({
    onFullDisk: join(folder, 'plants.db-wal'),
    withFreeSpace: 'none',
    isKept: true,
  });
});
