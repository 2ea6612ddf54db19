import { execFile } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { faultyDisk } from '@plantstore/test-support/faulty-disk';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { runsAll } from '@plantstore/test-support/sample';
import { expect, it } from 'vitest';
import { makeStore } from '../../test/store-file.ts';
import { backUpPlants } from './back-up-plants.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../../test/fail-each-read.ts', import.meta.url));

// Every hundredth name needs overflow pages.
const stored = Array.from({ length: 300 }, (_, id) => ({
  id: BigInt(id),
  name: 'plant '.repeat(id % 100 === 0 ? 2_000 : 5),
}));

const reported = (path: string) =>
  `input-output: ${path} cannot be read or written: the disk reports an error or is full, or a quota or the limit of a size (ulimit -f) is exceeded; check each`;

// Hundreds of checks and backups.
it('an I/O error at any read is reported as one, and never as damage', async ({ skip }) => {
  const disk = await faultyDisk(skip);
  const folder = await makeFolder();
  const source = join(folder, 'plants.db');
  makeStore(source, stored);
  (await backUpPlants({ from: source, to: disk.path }))._unsafeUnwrap();
  const copies = join(dirname(disk.path), 'copies');
  await mkdir(copies);
  const copy = join(copies, 'copy.db');
  const args = [program, disk.path, copy, runsAll ? '1' : '13'];
  const { stdout } = await run(process.execPath, args, { env: { ...process.env, ...disk.env } });
  const inBackup = [reported(copy), reported(disk.path)].toSorted().join(', ');
  expect(stdout.trimEnd().split('\n')).toEqual([
    `check: ${reported(disk.path)}, ok`,
    `check sector: ${reported(disk.path)}, ok`,
    `read: ${reported(disk.path)}, ok`,
    `read sector: ${reported(disk.path)}, ok`,
    `backUp: ${inBackup}`,
    `backUp sector: ${inBackup}`,
  ]);
  expect(await readdir(copies)).toEqual([]);
});
