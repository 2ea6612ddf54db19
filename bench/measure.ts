import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@plantstore/test-support/free-port';
import { type Load, runLoad, token, type Usage } from './load.ts';
import type { Contender, Figures } from './rounds.ts';

/** A server that is measured. */
export type Server = Contender & {
  /** Called for each start, which gets a new process and a new store. */
  readonly program: (port: number) => Program | Promise<Program>;
  /** CPU core of its process. Default: any. The load has core 1. */
  readonly core?: 0;
};

/** The path of a program, from this folder, with its arguments and variables. */
type Program = {
  readonly file: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

/** Measures a server under load. */
export async function measureServer(server: Server, load: Load): Promise<Figures> {
  // Flushes the writes of the previous contender, so that they do not slow down the next one.
  spawnSync('sync');
  return withServer(server, async (port, usage) => runLoad({ ...load, port }, usage));
}

/** Throws unless a server implements the operation: bearer token, validation, unique ids, the response. */
export async function verifyServer(server: Server): Promise<void> {
  const plant = { id: 7, name: 'Monstera', tag: 'climber' };
  const stored = '200 {"name":"Monstera","tag":"climber"}';
  // The order matters, because the store is not reset between cases.
  const cases = [
    ['a plant', plant, stored],
    ['the same plant again', plant, stored],
    ['another plant with its id', { ...plant, name: 'Ficus' }, '400'],
    ['a plant without a name', { id: 8 }, '400'],
    ['an id that is text', { ...plant, id: 'x' }, '400'],
    ['a wrong token', plant, '401', 'wrong'],
  ] as const;
  await withServer(server, async (port) => {
    for (const [name, body, expected, bearer = token] of cases) {
      const response = await fetch(`http://127.0.0.1:${port}/plants`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${bearer}` },
        body: JSON.stringify(body),
      });
      const received = `${response.status} ${await response.text()}`;
      if (!received.startsWith(expected))
        throw new Error(`the response to ${name} was ${received}`);
    }
  });
}

/** Binds this process, which runs the load, to a core. Returns whether it can. */
export function pinLoad(): boolean {
  return spawnSync('taskset', ['--all-tasks', '-pc', '1', String(process.pid)]).status === 0;
}

/** Runs a task with a server. Errors contain the server's name, exit status and output. */
async function withServer<T>(
  { name, program, core }: Server,
  task: (port: number, usage: () => Promise<Usage>) => Promise<T>,
): Promise<T> {
  const port = await freePort();
  const { file, args = [], env } = await program(port);
  // A process inherits the core of this one.
  const pin = core === undefined ? '0,1' : String(core);
  const pinned =
    spawnSync('taskset', ['-c', pin, 'true']).status === 0 ? ['taskset', '-c', pin] : [];
  const node = [process.execPath, `--import=${import.meta.resolve('./report-usage.mjs')}`];
  const path = resolve(import.meta.dirname, file);
  const [executable = '', ...rest] = [...pinned, ...node, path, ...args];
  const child = spawn(executable, rest, {
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', PORT: String(port), ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let output = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close').then(
    ([status, signal]) => `${signal ?? `exit status ${status}`}: ${output}`,
  );
  const usage = async () => {
    child.send('usage');
    const exit = ended.then(async () => Promise.reject(new Error('it exited')));
    const [message] = (await Promise.race([exit, once(child, 'message')])) as [Usage];
    return message;
  };
  try {
    while (!(await accepts(port)))
      if (await Promise.race([ended, sleep(2)])) throw new Error('it does not listen');
    return await task(port, usage);
  } catch (cause) {
    // Without a graceful close, because the data of a contender is discarded.
    child.kill('SIGKILL');
    throw new Error(`${name}: ${String(cause)}; ${await ended}`, { cause });
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

async function accepts(port: number): Promise<boolean> {
  const sent = fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: '{}' });
  return sent
    .then(async (response) => response.text())
    .then(
      () => true,
      () => false,
    );
}
