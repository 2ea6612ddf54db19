import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeFaultyDisk } from '@plantstore/test-support/faulty-disk';
import { runsAll } from '@plantstore/test-support/sample';
import { expect, it, onTestFinished } from 'vitest';
import { backUpPlants } from './back-up-plants.ts';
import { openSqliteRepository } from './open-sqlite-repository.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../test/fail-each-read.ts', import.meta.url));

const openStore = async (path: string) => {
  const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
  // Every hundredth name needs overflow pages.
  const names = Array.from({ length: 300 }, (_, id) => 'plant '.repeat(id % 100 === 0 ? 2_000 : 5));
  await Promise.all(names.map(async (name, id) => repository.create({ id: BigInt(id), name })));
  return repository;
};

const reported = (path: string) =>
  `input-output: ${path} cannot be read or written: the disk reports an error or is full, or a quota is exceeded; check each`;

// Hundreds of checks and backups.
it('an I/O error at any read is reported as one, and never as damage', async ({ skip }) => {
  const disk = await makeFaultyDisk();
  if (disk === undefined) return skip('this machine has no C compiler to build the faulty disk');
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const store = await openStore(join(folder, 'plants.db'));
  (await backUpPlants({ from: join(folder, 'plants.db'), to: disk.path }))._unsafeUnwrap();
  await store.close();
  const copies = join(dirname(disk.path), 'copies');
  await mkdir(copies);
  const copy = join(copies, 'copy.db');
  const args = [program, disk.path, copy, runsAll ? '1' : '8'];
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

it('a backup whose copy cannot be opened for a write names the copy, and never the source', async ({
  skip,
}) => {
  const disk = await makeFaultyDisk();
  if (disk === undefined) return skip('this machine has no C compiler to build the faulty disk');
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const source = join(folder, 'plants.db');
  await (await openStore(source)).close();
  const failing = fileURLToPath(new URL('../test/fail-each-open-of-copy.ts', import.meta.url));
  const args = [failing, source, disk.path];
  const { stdout } = await run(process.execPath, args, { env: { ...process.env, ...disk.env } });
  expect(JSON.parse(stdout)).toEqual([`cannot-open ${disk.path}`, 'ok', `read-only ${disk.path}`]);
});
