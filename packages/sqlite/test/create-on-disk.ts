import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { FaultyDisk } from '@plantstore/test-support/faulty-disk';
import { notRecovered } from './plant-of.ts';

/** Runs a program on a faulty disk until it ends. */
const runOnDisk = async (
  { env }: FaultyDisk,
  name: string,
  args: readonly (string | number)[],
  fails = '',
) => {
  const program = fileURLToPath(new URL(name, import.meta.url));
  const node = ['--disable-warning=ExperimentalWarning', program, ...args.map(String)];
  const child = spawn(process.execPath, node, {
    env: { ...process.env, ...env, DISK_FAILS: fails },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const lines = (await text(child.stdout)).split('\n').slice(0, -1);
  const [status, signal] = await exited;
  if (signal !== 'SIGKILL' && status !== 0) throw new Error(`${name} failed`);
  return lines;
};

/** Parameters of a process that creates plants while some syncs fail. */
export type Creating = {
  /** Syncs that fail: `wal 2 4` fails the second to the fourth sync of the WAL file. */
  readonly fails?: string;
  /** Number of the first plant, and one more than the number of the last. */
  readonly plants: readonly [number, number];
  /** What the process does after its creates: see `create-on-failing-disk.ts`. */
  readonly end: 'close' | 'kill' | 'exit' | `${'remove' | 'lose' | 'fail'} ${string}`;
  /** Number of concurrent creates. Default: 4. */
  readonly clients?: number;
  /** Attempts to create each plant. Default: 40. */
  readonly attempts?: number;
};

/** Runs the process, and returns the reasons of creates that failed before they succeeded. */
export const createOnFailingDisk = async (
  disk: FaultyDisk,
  { fails = '', plants, end, clients = 4, attempts = 40 }: Creating,
): Promise<string[]> => {
  const args = [disk.path, ...plants, end, clients, attempts];
  const reasons = await runOnDisk(disk, 'create-on-failing-disk.ts', args, fails);
  if (reasons.includes(notRecovered)) throw new Error(`${notRecovered} while ${fails} failed`);
  return reasons;
};

/** Runs steps of another program, which is then killed. */
export const runStepsOnDisk = async (disk: FaultyDisk, steps: readonly string[]): Promise<void> => {
  await runOnDisk(disk, 'use-in-steps.ts', [disk.path, JSON.stringify(steps)]);
};

/** Imports a file with the command, and records all its plants as acknowledged if it succeeds. */
export const importOnDisk = async (
  disk: FaultyDisk,
  input: string,
  count: number,
): Promise<void> => {
  const program = '../../../tests/black-box/import-on-disk.ts';
  await runOnDisk(disk, program, [disk.path, input, count]);
};
