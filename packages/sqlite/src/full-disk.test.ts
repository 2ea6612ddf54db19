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

const noMount = 'this user cannot mount a small disk on this machine';

/** Runs a program on a small disk and returns what it prints. */
const runOn = async (folder: string, program: URL): Promise<unknown> => {
  const file = fileURLToPath(program);
  const command = [process.execPath, file, folder];
  return JSON.parse((await onSmallDisk(folder, command)).stdout);
};

it('a repository reports a full disk, loses no acknowledged plant, and recovers once there is space', async ({
  skip,
}) => {
  const folder = await newFolder();
  skip(!(await mayMount(folder)), noMount);
  const program = new URL('../test/create-on-full-disk.ts', import.meta.url);
  const report = (await runOn(folder, program)) as { stored: number };
  expect(report).toEqual({
    openedWhenFull: 'disk-full',
    refusedKind: 'store-unavailable',
    reason: 'the database cannot be written: disk-full',
    recovered: true,
    stored: report.stored,
    found: report.stored,
  });
  expect(report.stored).toBeGreaterThan(0);
});

it('a repository that is closed on a full disk reports the remaining WAL file', async ({
  skip,
}) => {
  const folder = await newFolder();
  skip(!(await mayMount(folder)), noMount);
  const program = new URL('../test/close-on-full-disk.ts', import.meta.url);
  expect(await runOn(folder, program)).toEqual({
    onFullDisk: join(folder, 'plants.db-wal'),
    withFreeSpace: 'none',
    isStored: true,
  });
});
