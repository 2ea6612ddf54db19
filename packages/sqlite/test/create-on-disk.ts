import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { FaultyDisk } from '@plantstore/test-support/faulty-disk';

const fileBeside = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const nodeWith = (program: string, args: readonly string[]) => [
  '--conditions=@plantstore/source',
  '--disable-warning=ExperimentalWarning',
  fileBeside(program),
  ...args,
];

/** A process that creates plants on a disk some of whose syncs fail. */
export type Creating = {
  /** Syncs that fail: `log 2 4` is the second to the fourth of the log. */
  readonly fails?: string;
  /** Numbers of the first plant and of the one after the last. */
  readonly plants: readonly [number, number];
  /** Whether the store is closed, or only killed. */
  readonly end: 'close' | 'kill';
};

/** Runs it, and returns why creates failed that then succeeded. */
export const createOnFailingDisk = async (
  { path, env }: FaultyDisk,
  { fails = '', plants, end }: Creating,
): Promise<string[]> => {
  const program = nodeWith('create-on-failing-disk.ts', [path, ...plants.map(String), end]);
  const child = spawn(process.execPath, program, {
    env: { ...process.env, ...env, DISK_FAILS: fails },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const reasons = (await text(child.stdout)).split('\n').slice(0, -1);
  const [, signal] = await exited;
  if (signal !== 'SIGKILL') throw new Error(`the store did not recover while ${fails} failed`);
  return reasons;
};

/** Runs the program that creates plants, kills it with `-9` once it has reported enough, returns the ids. */
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
  // What follows the last line break is incomplete.
  return output.split('\n').slice(0, -1).map(Number);
};
