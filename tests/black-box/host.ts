import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** The source of the program. */
export const bin = fileURLToPath(new URL('../../packages/server/src/bin.ts', import.meta.url));

/** The token that hosts under test accept, unless they generate one. */
export const token = 'black-box-token';

/** Registers a task to run after the test or the test file. */
export type Cleanup = (task: () => Promise<void>) => void;

/** Creates an empty folder that is removed after the test. */
export const newFolder = async (cleanup: Cleanup = onTestFinished): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  cleanup(async () => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** How to start a host. */
export type HostOptions = {
  /** The program and its first arguments. Default is the source of the program on this Node. */
  readonly command?: readonly [string, ...string[]];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory. Default is that of the test. */
  readonly cwd?: string;
  /** Arguments of Node itself. */
  readonly nodeArgs?: readonly string[];
  /** The file descriptor for standard output. Default is a pipe to the test. */
  readonly stdout?: number;
};

/** The bundled host as a child process. */
export type HostProcess = {
  readonly process: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly exited: Promise<number | null>;
};

/** The variables that every child process gets: to find programs, and to start faster. */
export const neededVariables = () => ({
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
});

/** Starts the real program, with exactly the given settings. */
export const spawnHost = (
  {
    nodeArgs = [],
    command = [process.execPath, '--conditions=@plantstore/source', ...nodeArgs, bin],
    args = [],
    env = {},
    cwd = process.cwd(),
    stdout,
  }: HostOptions,
  cleanup: Cleanup = onTestFinished,
): HostProcess => {
  const [program, ...firstArgs] = command;
  const child = spawn(program, [...firstArgs, ...args], {
    cwd,
    env: { ...neededVariables(), ...env },
    stdio: ['ignore', stdout ?? 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const exited = once(child, 'close').then(([status]) => status as number | null);
  cleanup(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  return { process: child, stdout: () => output.stdout, stderr: () => output.stderr, exited };
};

/** A host that accepts requests. */
export type RunningHost = HostProcess & { readonly url: string; readonly port: number };

const announced = async (host: HostProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    const look = () => {
      const url = /https?:\/\/[^"\s]+/.exec(host.stdout())?.[0];
      if (url !== undefined) resolve(url);
    };
    host.process.stdout?.on('data', look);
    void host.exited.then((status) => {
      reject(new Error(`exit status ${status}: ${host.stdout()}${host.stderr()}`));
    });
  });

/** Starts the real program on a free port and waits until it accepts requests. */
export const startHost = async (
  options: HostOptions = {},
  cleanup: Cleanup = onTestFinished,
): Promise<RunningHost> => {
  const env = { PLANTSTORE_PORT: '0', PLANTSTORE_TOKENS: token, ...options.env };
  const host = spawnHost({ ...options, env }, cleanup);
  const url = await announced(host);
  return { ...host, url, port: Number(new URL(url).port) };
};

/** Waits until the log of a host satisfies a condition; rejects if the host ends before. */
export const untilLogged = async (
  host: HostProcess,
  isEnough: (stdout: string) => boolean,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const look = () => {
      if (isEnough(host.stdout())) resolve();
    };
    host.process.stdout?.on('data', look);
    void host.exited.then(() => {
      look();
      reject(new Error(`the host ended: ${host.stdout()}${host.stderr()}`));
    });
    look();
  });

/** Posts a body as JSON with the token. Resolves with the status, and the error number if there is one. */
export const post = async (
  url: string,
  body: string,
): Promise<{ readonly status: number; readonly error: number | undefined }> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body,
  });
  const { error } = (await response.json()) as { error?: number };
  return { status: response.status, error };
};
