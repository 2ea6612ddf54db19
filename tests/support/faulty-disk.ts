import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { type Operation, readTrace } from './disk-trace.ts';
import { createFolder } from './power-cut.ts';

const run = promisify(execFile);
const fileBeside = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** A disk that can be slow, whose syncs can fail, and whose power can be cut. */
export type FaultyDisk = {
  /** Path of the database. */
  readonly path: string;
  /** Environment that makes a process use the disk. */
  readonly env: Readonly<Record<string, string>>;
  /** Everything that was done on the disk so far. */
  readonly operations: () => Promise<Operation[]>;
  /** Number of syncs so far. */
  readonly syncs: () => Promise<number>;
  /** Replaces the files of the folder. */
  readonly restore: (files: ReadonlyMap<string, Buffer>) => Promise<void>;
  /** Replaces the files of the folder by what a power cut would have left: what was synced. */
  readonly cutPower: () => Promise<void>;
};

/** Makes such a disk, or `undefined` where there is no C compiler or no LD_PRELOAD. */
export const makeFaultyDisk = async (delayMs = 0): Promise<FaultyDisk | undefined> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'plantstore-')));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const library = join(folder, 'disk.so');
  const source = fileBeside('disk.c');
  const built = await run('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']).then(
    () => true,
    () => false,
  );
  if (process.platform !== 'linux' || !built) return undefined;

  const [used, trace] = [join(folder, 'used'), join(folder, 'trace')];
  await mkdir(used);
  await mkdir(trace);
  const operations = async () => readTrace(trace);
  const restore = async (files: ReadonlyMap<string, Buffer>) => {
    await rm(used, { recursive: true });
    await mkdir(used);
    for (const [name, content] of files) await writeFile(join(used, name), content);
  };
  return {
    path: join(used, 'plants.db'),
    env: {
      LD_PRELOAD: library,
      DISK_FOLDER: used,
      DISK_TRACE: trace,
      DISK_DELAY_MS: String(delayMs),
    },
    operations,
    syncs: async () => (await operations()).filter(({ kind }) => kind === 'sync').length,
    restore,
    async cutPower() {
      const done = createFolder();
      for (const operation of await operations()) done.apply(operation);
      await restore(done.cutPower(() => false));
    },
  };
};
