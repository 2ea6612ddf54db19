import { spawn, spawnSync } from 'node:child_process';
import { on } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A process that exchanges messages with this one. */
export type Child = {
  /** Returns the next message. Rejects with the exit status if the process exited before. */
  readonly next: () => Promise<unknown>;
  /** Returns the CPU time and the memory of the process, including its threads. */
  readonly usage: () => Promise<{ readonly cpuUs: number; readonly residentMiB: number }>;
  /** Resolves to the exit status and the end of standard error. */
  readonly ended: Promise<string>;
  readonly stop: () => Promise<void>;
};

/** Options of {@link startChild}. */
export type ChildOptions = {
  /** CPU core of the process. Default: any. */
  readonly core?: 0 | 1 | 'any' | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** Path of Bun, for a program that runs on Bun. Default: the program runs on this Node. */
  readonly bun?: string;
  /** File for its standard output. Default: none. */
  readonly stdout?: string;
};

/** Starts a program, given by its absolute path or by its path from this folder. */
export function startChild(
  program: string,
  args: readonly string[],
  { core = 'any', env, bun, stdout }: ChildOptions = {},
): Child {
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
      const exit = `${program} exited with ${signal ?? `exit status ${status}`}`;
      resolve(errorOutput === '' ? exit : `${exit}: ${errorOutput.trim()}`);
    });
  });
  // The channel closes after the last message was read.
  const messages = on(child, 'message', { close: ['disconnect'] });
  const next = async (): Promise<unknown> => {
    const result = (await messages.next()) as IteratorResult<readonly unknown[], undefined>;
    if (result.done === true) throw new Error(await ended);
    return result.value[0];
  };
  return {
    next,
    ended,
    async usage() {
      // A child that is exiting cannot receive it; then the next message is its end.
      if (child.connected) child.send('usage', () => {});
      return (await next()) as Awaited<ReturnType<Child['usage']>>;
    },
    async stop() {
      // No graceful close, because the data of a contender is discarded.
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Whether a process can be bound to a core. */
export const canPin = spawnSync('taskset', ['-c', '0,1', 'true']).status === 0;

const usageReporter = new URL('report-usage.mjs', import.meta.url);
