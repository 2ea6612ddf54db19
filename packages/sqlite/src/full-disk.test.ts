import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const run = promisify(execFile);

/** Runs a command where the folder is a disk of its own of 2 MB (a mount that only it sees). */
const onSmallDisk = async (folder: string, command: readonly string[]) =>
  run('unshare', [
    '--map-root-user',
    '--mount',
    'sh',
    '-c',
    'mount -t tmpfs -o size=2m tmpfs "$0" && exec "$@"',
    folder,
    ...command,
  ]);

it('a full disk is reported, loses no plant that was answered, and is got over', async ({
  skip,
}) => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const mayMount = await onSmallDisk(folder, ['true']).then(
    () => true,
    () => false,
  );
  skip(!mayMount, 'this machine lets no user mount a small disk');

  const program = fileURLToPath(new URL('../test/on-a-small-disk.ts', import.meta.url));
  const { stdout } = await onSmallDisk(folder, [
    process.execPath,
    '--conditions=@plantstore/source',
    program,
    folder,
  ]);
  const told = JSON.parse(stdout) as { kept: number };
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
