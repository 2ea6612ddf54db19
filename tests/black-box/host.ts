import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** The program's source. */
export const bin = fileURLToPath(new URL('../../packages/server/src/bin.ts', import.meta.url));

/** The token that hosts under test accept, besides one that is made up. */
export const token = 'black-box-token';

/** Takes what is to be done when whoever asked is over. */
export type Cleanup = (task: () => Promise<void>) => void;

/** An empty folder that is removed when the test is over. */
export const newFolder = async (cleanup: Cleanup = onTestFinished): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  cleanup(async () => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** How a host is started. */
export type HostOptions = {
  /** The program and its first arguments. Default: the bin's source on this Node. */
  readonly command?: readonly [string, ...string[]];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of Node itself. */
  readonly nodeArgs?: readonly string[];
  /** Where standard output goes, as a file descriptor. Default is to the test. */
  readonly stdout?: number;
};

/** The bundled host as a process of its own. */
export type HostProcess = {
  readonly process: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly exited: Promise<number | null>;
};

/** Starts the real bin, with no settings but those given. */
export const spawnHost = (
  {
    nodeArgs = [],
    command = [process.execPath, '--conditions=@plantstore/source', ...nodeArgs, bin],
    args = [],
    env = {},
    stdout,
  }: HostOptions,
  cleanup: Cleanup = onTestFinished,
): HostProcess => {
  const [program, ...firstArgs] = command;
  const child = spawn(program, [...firstArgs, ...args], {
    env: { PATH: process.env['PATH'], ...env },
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

/** A host that accepts plants. */
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

/** Starts the real bin on a free port and waits until it accepts requests. */
export const startHost = async (
  options: HostOptions = {},
  cleanup: Cleanup = onTestFinished,
): Promise<RunningHost> => {
  const env = { PLANTSTORE_PORT: '0', PLANTSTORE_TOKENS: token, ...options.env };
  const host = spawnHost({ ...options, env }, cleanup);
  const url = await announced(host);
  return { ...host, url, port: Number(new URL(url).port) };
};

/** Waits until the log of a host satisfies a test; fails when the host ends before. */
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

/** Posts a body as JSON with the token and gives the status and the error number, if any. */
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
