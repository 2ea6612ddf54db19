import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

const run = promisify(execFile);
const fileBeside = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** A disk that can be slow, and whose power can be cut. */
export type FaultyDisk = {
  /** Where the database goes. */
  readonly path: string;
  /** What makes a process use the disk. */
  readonly env: Readonly<Record<string, string>>;
  /** How often something was synced so far. */
  readonly syncs: () => Promise<number>;
  /** Makes of the folder what a power cut would have left: what was synced, under synced names. */
  readonly cutPower: () => Promise<void>;
};

/** Makes such a disk, or nothing where there is no C compiler or no LD_PRELOAD. */
export const makeFaultyDisk = async (delayMs = 0): Promise<FaultyDisk | undefined> => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const library = join(folder, 'disk.so');
  const built = await run('cc', [
    '-shared',
    '-fPIC',
    '-o',
    library,
    fileBeside('disk.c'),
    '-ldl',
  ]).then(
    () => true,
    () => false,
  );
  if (process.platform !== 'linux' || !built) return undefined;

  const [used, survives] = [join(folder, 'used'), join(folder, 'survives')];
  await mkdir(used);
  await mkdir(survives);
  const read = async (name: string) => readFile(join(survives, name), 'utf8').catch(() => '');
  return {
    path: join(used, 'plants.db'),
    env: { LD_PRELOAD: library, DISK_SURVIVES: survives, DISK_DELAY_MS: String(delayMs) },
    syncs: async () => (await read('.syncs')).length,
    async cutPower() {
      const names = (await read('.names')).split('\n');
      await rm(used, { recursive: true });
      await mkdir(used);
      for (const name of await readdir(survives)) {
        if (names.includes(name)) await cp(join(survives, name), join(used, name));
      }
    },
  };
};

/** Runs the program that creates plants, kills it with `-9` once it has told of enough, gives the ids. */
export const createUntilKilled = async (
  args: readonly string[],
  enough: number,
  env: Readonly<Record<string, string>> = {},
): Promise<number[]> => {
  const program = [
    '--conditions=@plantstore/source',
    '--disable-warning=ExperimentalWarning',
    fileBeside('create-until-killed.ts'),
    ...args,
  ];
  const child = spawn(process.execPath, program, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let told = '';
  for await (const chunk of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
    told += chunk;
    if (told.split('\n').length > enough) child.kill('SIGKILL');
  }
  // What follows the last line break was not told whole.
  return told.split('\n').slice(0, -1).map(Number);
};
