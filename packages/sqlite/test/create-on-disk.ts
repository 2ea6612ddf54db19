import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { FaultyDisk } from '@plantstore/test-support/faulty-disk';
import { notRecovered } from './plant-of.ts';

const fileBeside = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const nodeWith = (program: string, args: readonly string[]) => [
  '--disable-warning=ExperimentalWarning',
  fileBeside(program),
  ...args,
];

/** Parameters of a process that creates plants while some syncs fail. */
export type Creating = {
  /** Syncs that fail: `wal 2 4` fails the second to the fourth sync of the WAL file. */
  readonly fails?: string;
  /** Number of the first plant, and one more than the number of the last. */
  readonly plants: readonly [number, number];
  /** What the process does after its creates: see `create-on-failing-disk.ts`. */
  readonly end: 'close' | 'kill' | 'exit' | `remove ${string}`;
  /** Number of concurrent creates. Default: 4. */
  readonly clients?: number;
  /** Attempts to create each plant. Default: 40. */
  readonly attempts?: number;
};

/** Runs the process, and returns the reasons of creates that failed before they succeeded. */
export const createOnFailingDisk = async (
  { path, env }: FaultyDisk,
  { fails = '', plants, end, clients = 4, attempts = 40 }: Creating,
): Promise<string[]> => {
  const program = nodeWith('create-on-failing-disk.ts', [
    path,
    ...[...plants, end, clients, attempts].map(String),
  ]);
  const child = spawn(process.execPath, program, {
    env: { ...process.env, ...env, DISK_FAILS: fails },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const reasons = (await text(child.stdout)).split('\n').slice(0, -1);
  const [status, signal] = await exited;
  if ((signal !== 'SIGKILL' && status !== 0) || reasons.includes(notRecovered))
    throw new Error(`${notRecovered} while ${fails} failed`);
  return reasons;
};

/** Runs steps of another program, which is then killed. */
export const runStepsOnDisk = async (
  { path, env }: FaultyDisk,
  steps: readonly string[],
): Promise<void> => {
  const child = spawn(
    process.execPath,
    nodeWith('use-in-steps.ts', [path, JSON.stringify(steps)]),
    {
      env: { ...process.env, ...env },
      stdio: 'inherit',
    },
  );
  const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  if (signal !== 'SIGKILL') throw new Error('a step failed');
};

/** Imports a file with the command, and records all its plants as acknowledged if it succeeds. */
export const importOnDisk = async (
  { path, env }: FaultyDisk,
  input: string,
  count: number,
): Promise<void> => {
  const program = nodeWith('../../../tests/black-box/import-on-disk.ts', [
    path,
    input,
    String(count),
  ]);
  const child = spawn(process.execPath, program, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [status] = (await once(child, 'exit')) as [number | null];
  if (status !== 0) throw new Error('the import failed');
};

/** Runs a program that creates plants, kills it with SIGKILL after `enough` reports, and returns the acknowledged ids. */
export const createUntilKilled = async (
  args: readonly string[],
  enough: number,
  env: Readonly<Record<string, string>> = {},
): Promise<number[]> => {
  const child = spawn(process.execPath, nodeWith('create-until-killed.ts', args), {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const chunk of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
    output += chunk;
    if (output.split('\n').length > enough) child.kill('SIGKILL');
  }
  // The line after the last line break is incomplete.
  return output.split('\n').slice(0, -1).map(Number);
};
