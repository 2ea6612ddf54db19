import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What a process has used so far; its threads are counted, its children are not. */
export type Usage = { readonly cpuSeconds: number; readonly residentBytes: number };

/** A measured process. */
export type Child = {
  readonly process: ChildProcess;
  readonly usage: () => Promise<Usage>;
  /** The next message that it sends, in order; rejects when it ends before. */
  readonly next: () => Promise<unknown>;
  /** How it ended, in words, with what it wrote to standard error. */
  readonly ended: Promise<string>;
  readonly stop: () => Promise<void>;
};

/** Which core a process may run on; `any` leaves it to the system. */
export type Core = 0 | 1 | 'any';

/** How a child is started. */
export type ChildOptions = {
  readonly core: Core;
  readonly env?: Readonly<Record<string, string>>;
  /** Default is that which lets the child tell its usage. */
  readonly nodeOptions?: readonly string[];
  /** Bun's executable, for a program that runs on it. Default is this Node. */
  readonly bun?: string;
  /** The file that takes standard output. Default is none. */
  readonly stdout?: string;
};

const usageReporter = new URL('report-usage.ts', import.meta.url);

/** Whether processes can be given a core each. */
export const canPin = spawnSync('taskset', ['-c', '0,1', 'true']).status === 0;

/** Keeps what has come until somebody takes it, so that nothing is lost. */
const createMailbox = <T>() => {
  const letters: T[] = [];
  const readers: ((letter: T) => void)[] = [];
  return {
    put: (letter: T) => {
      const reader = readers.shift();
      if (reader === undefined) letters.push(letter);
      else reader(letter);
    },
    take: async (): Promise<T> => {
      const letter = letters.shift();
      if (letter !== undefined) return letter;
      return new Promise((resolve) => {
        readers.push(resolve);
      });
    },
  };
};

const endOf = async (child: ChildProcess, program: string): Promise<string> => {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4_000);
  });
  return new Promise((resolve) => {
    child.once('error', ({ message }) => resolve(`${program} did not start: ${message}`));
    child.once('close', (status, signal) => {
      const how = signal ?? `exit status ${status}`;
      resolve(`${program} ended with ${how}${said === '' ? '' : `: ${said.trim()}`}`);
    });
  });
};

/** For how long a child may take to end when it is asked, in milliseconds. */
const maxStopMs = 5_000;

/** Starts one of this folder's programs, or another's file, in a process of its own. */
export const startChild = (
  program: string,
  args: readonly string[],
  { core, env = {}, nodeOptions = [`--import=${usageReporter.href}`], bun, stdout }: ChildOptions,
): Child => {
  const file = fileURLToPath(new URL(program, import.meta.url));
  const command =
    bun === undefined
      ? [process.execPath, ...nodeOptions]
      : [bun, `--preload=${fileURLToPath(usageReporter)}`];
  const pinned = core !== 'any' && canPin ? ['taskset', '-c', String(core)] : [];
  const [executable = '', ...rest] = [...pinned, ...command, file, ...args];
  const output = stdout === undefined ? undefined : openSync(stdout, 'w');
  const child = spawn(executable, rest, {
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...env },
    stdio: ['ignore', output ?? 'ignore', 'pipe', 'ipc'],
    serialization: 'json',
  });
  if (output !== undefined) closeSync(output);
  const messages = createMailbox<unknown>();
  const usages = createMailbox<Usage>();
  child.on('message', (message: { readonly usage?: Usage }) => {
    if (message.usage === undefined) messages.put(message);
    else usages.put(message.usage);
  });
  const ended = endOf(child, program);
  const orEnded = async <T>(promise: Promise<T>): Promise<T> =>
    Promise.race([
      promise,
      ended.then((how) => {
        throw new Error(how);
      }),
    ]);
  return {
    process: child,
    usage: async () => {
      if (child.connected) child.send('usage');
      return orEnded(usages.take());
    },
    next: async () => orEnded(messages.take()),
    ended,
    stop: async () => {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      const inTime = setTimeout(() => child.kill('SIGKILL'), maxStopMs);
      child.kill();
      await gone;
      clearTimeout(inTime);
    },
  };
};

/** A program that answers what it is asked, one question at a time. */
export type Asked = {
  readonly ask: <T>(question: object) => Promise<T>;
  readonly stop: () => Promise<void>;
};

/** Starts one of this folder's programs that answer. */
export const startAsked = (program: string, nodeOptions: readonly string[] = []): Asked => {
  const child = startChild(program, [], { core: 'any', nodeOptions });
  return {
    async ask<T>(question: object) {
      if (child.process.connected) child.process.send(question);
      return (await child.next()) as T;
    },
    stop: child.stop,
  };
};
