import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestContext } from 'vitest';
import { type Operation, readTrace } from './disk-trace.ts';
import { type Cleanup, makeFolder } from './make-folder.ts';
import { createFolder } from './power-cut.ts';

const run = promisify(execFile);
const fileBeside = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** A simulated disk with slow syncs, failed syncs and power cuts. */
export type FaultyDisk = {
  /** Path of the database. */
  readonly path: string;
  /** Environment variables of a process that uses the disk. */
  readonly env: Readonly<Record<string, string>>;
  /** Operations on the disk so far. */
  readonly operations: () => Promise<Operation[]>;
  /** Number of syncs so far. */
  readonly syncs: () => Promise<number>;
  /** Replaces the files of the folder. */
  readonly restore: (files: ReadonlyMap<string, Buffer>) => Promise<void>;
  /** Replaces the files of the folder with their state after a power cut, which is the synced data. */
  readonly cutPower: () => Promise<void>;
};

/** Builds the library once for each version of its source; returns `undefined` without a C compiler or LD_PRELOAD. */
export const buildLibrary = async (): Promise<string | undefined> => {
  if (process.platform !== 'linux') return undefined;
  const source = fileBeside('disk.c');
  const digest = createHash('sha256').update(await readFile(source));
  const cache = fileBeside('../../node_modules/.cache');
  const library = join(cache, `disk-${digest.digest('hex').slice(0, 16)}.so`);
  if (existsSync(library)) return library;
  await mkdir(cache, { recursive: true });
  // Another test may build it at the same time.
  const temporary = `${library}.${randomUUID()}`;
  return run('cc', ['-shared', '-fPIC', '-Wall', '-o', temporary, source, '-ldl'])
    .then(async () => rename(temporary, library))
    .then(
      () => library,
      () => undefined,
    );
};

/** Creates a faulty disk; returns `undefined` without a C compiler or LD_PRELOAD. Concurrent tests pass their `cleanup`. */
export const makeFaultyDisk = async (
  delayMs = 0,
  cleanup?: Cleanup,
): Promise<FaultyDisk | undefined> => {
  const folder = await realpath(await makeFolder(cleanup));
  const library = await buildLibrary();
  if (library === undefined) return undefined;

  const [filesFolder, trace] = [join(folder, 'files'), join(folder, 'trace')];
  await mkdir(filesFolder);
  await mkdir(trace);
  const faults = join(folder, 'faults');
  await writeFile(faults, `sync 0 * 1000 ${delayMs}`);
  const operations = async () => readTrace(trace);
  const restore = async (files: ReadonlyMap<string, Buffer>) => {
    await rm(filesFolder, { recursive: true });
    await mkdir(filesFolder);
    for (const [name, content] of files) await writeFile(join(filesFolder, name), content);
  };
  return {
    path: join(filesFolder, 'plants.db'),
    env: {
      LD_PRELOAD: library,
      DISK_FOLDER: filesFolder,
      DISK_TRACE: trace,
      ...(delayMs > 0 && { DISK_FAULTS: faults }),
    },
    operations,
    syncs: async () => (await operations()).filter(({ kind }) => kind === 'sync').length,
    restore,
    async cutPower() {
      const folderState = createFolder();
      for (const operation of await operations()) folderState.apply(operation);
      await restore(folderState.cutPower(() => false));
    },
  };
};

/** Creates a faulty disk for a test, or skips the test without a C compiler or LD_PRELOAD. */
export const faultyDisk = async (skip: TestContext['skip']): Promise<FaultyDisk> =>
  (await makeFaultyDisk()) ?? skip('this machine has no C compiler to build the faulty disk');
