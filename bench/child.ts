import { spawn, spawnSync } from 'node:child_process';
import { on } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What a process has used, its threads included. */
export type Usage = { readonly cpuUs: number; readonly residentMiB: number };

/** A process that exchanges messages with this one. */
export type Child = {
  /** Returns its next message, in order. Rejects with how it ended if it ended before. */
  readonly next: () => Promise<unknown>;
  /** Returns what it has used so far. */
  readonly usage: () => Promise<Usage>;
  /** How it ended, with the end of its standard error. */
  readonly ended: Promise<string>;
  readonly stop: () => Promise<void>;
};

/** Options of {@link startChild}. */
export type ChildOptions = {
  /** The core that it runs on. Default: any. */
  readonly core?: 0 | 1 | 'any' | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** Path of Bun, for a program that runs on it. Default: this Node runs it. */
  readonly bun?: string;
  /** File for its standard output. Default: none. */
  readonly stdout?: string;
};

const usageReporter = new URL('report-usage.mjs', import.meta.url);

/** Whether a process can be bound to a core. */
export const canPin = spawnSync('taskset', ['-c', '0,1', 'true']).status === 0;

/** Starts a program, given by its absolute path or by its path from this folder. */
export const startChild = (
  program: string,
  args: readonly string[],
  { core = 'any', env, bun, stdout }: ChildOptions = {},
): Child => {
  const runtime =
    bun === undefined
      ? [process.execPath, `--import=${usageReporter.href}`]
      : [bun, `--preload=${fileURLToPath(usageReporter)}`];
  const pinned = core !== 'any' && canPin ? ['taskset', '-c', String(core)] : [];
  const file = fileURLToPath(new URL(program, import.meta.url));
  const [executable = '', ...rest] = [...pinned, ...runtime, file, ...args];
  const output = stdout === undefined ? undefined : openSync(stdout, 'w');
  const child = spawn(executable, rest, {
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...env },
    stdio: ['ignore', output ?? 'ignore', 'pipe', 'ipc'],
  });
  if (output !== undefined) closeSync(output);
  let errorOutput = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = (errorOutput + text).slice(-4_000);
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(`${program} did not start: ${message}`));
    child.once('close', (status, signal) => {
      const how = `${program} ended with ${signal ?? `exit status ${status}`}`;
      resolve(errorOutput === '' ? how : `${how}: ${errorOutput.trim()}`);
    });
  });
  // The channel closes after its last message was read.
  const messages = on(child, 'message', { close: ['disconnect'] });
  const next = async (): Promise<unknown> => {
    const result = (await messages.next()) as IteratorResult<readonly unknown[], undefined>;
    if (result.done === true) throw new Error(await ended);
    return result.value[0];
  };
  return {
    next,
    async usage() {
      if (child.connected) child.send('usage');
      return (await next()) as Usage;
    },
    ended,
    async stop() {
      // At once: nothing that a contender leaves is needed.
      child.kill('SIGKILL');
      await ended;
    },
  };
};
