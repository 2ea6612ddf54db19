import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Cleanup } from '@plantstore/test-support/make-folder';
import { onTestFinished } from 'vitest';

/** The program, which the global setup has built. */
export const bin = fileURLToPath(new URL('../../packages/plantstore/dist/bin.js', import.meta.url));

/** The token that servers under test accept, unless they generate one. */
export const token = 'black-box-token';

export { type Cleanup, makeFolder as newFolder } from '@plantstore/test-support/make-folder';

/** How to start a server. */
export type ProgramOptions = {
  /** The program and its first arguments. Default is the program on this Node. */
  readonly command?: readonly [string, ...string[]];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory. Default is that of the test. */
  readonly cwd?: string;
  /** Arguments of Node itself. */
  readonly nodeArgs?: readonly string[];
  /** The user of the process. Default is that of the test. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** What standard input has, or its file descriptor. Default is nothing. */
  readonly stdin?: string | Buffer | number;
  /** The file descriptor for standard output. Default is a pipe to the test. */
  readonly stdout?: number;
};

/** The built program as a child process. */
export type ProgramProcess = {
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
export const spawnProgram = (
  {
    nodeArgs = [],
    command = [process.execPath, ...nodeArgs, bin],
    args = [],
    env = {},
    cwd = process.cwd(),
    user,
    stdin = '',
    stdout,
  }: ProgramOptions,
  cleanup: Cleanup = onTestFinished,
): ProgramProcess => {
  const [program, ...firstArgs] = command;
  const child = spawn(program, [...firstArgs, ...args], {
    cwd,
    ...user,
    env: { ...neededVariables(), ...env },
    stdio: [typeof stdin === 'number' ? stdin : 'pipe', stdout ?? 'pipe', 'pipe'],
  });
  // A program may end before it has read everything.
  child.stdin?.on('error', () => {}).end(stdin);
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

/** A server that accepts requests. */
export type RunningProgram = ProgramProcess & { readonly url: string; readonly port: number };

const urlPattern = /https?:\/\/[^"\s]+/;

/** Starts the real program on a free port, by default in memory. Resolves once it is up. */
export const startProgram = async (
  options: ProgramOptions = {},
  cleanup: Cleanup = onTestFinished,
): Promise<RunningProgram> => {
  const env = {
    PLANTSTORE_PORT: '0',
    PLANTSTORE_DATABASE: 'memory:',
    PLANTSTORE_TOKENS: token,
    // Limits that no request reaches, however busy the machine is.
    PLANTSTORE_HEADERS_TIMEOUT_MS: '60000',
    PLANTSTORE_HANDLER_TIMEOUT_MS: '60000',
    PLANTSTORE_SHUTDOWN_TIMEOUT_MS: '60000',
    ...options.env,
  };
  const server = spawnProgram({ ...options, env }, cleanup);
  await untilOutput(server, (stdout) => urlPattern.test(stdout));
  const url = urlPattern.exec(server.stdout())?.[0] ?? '';
  return { ...server, url, port: Number(new URL(url).port) };
};

/** Maximum wait for output, in milliseconds. A test whose message has changed fails then. */
const outputTimeoutMs = 120_000;

/** Waits until the output of a server satisfies a condition; rejects with the output if the server ends before, or hangs. */
export const untilOutput = async (
  server: ProgramProcess,
  isEnough: (stdout: string, stderr: string) => boolean,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const fail = (what: string) => () => {
      look();
      reject(new Error(`${what}: ${server.stdout()}${server.stderr()}`));
    };
    const timer = setTimeout(fail('the server has not written what is expected'), outputTimeoutMs);
    const look = () => {
      if (!isEnough(server.stdout(), server.stderr())) return;
      clearTimeout(timer);
      resolve();
    };
    server.process.stdout?.on('data', look);
    server.process.stderr?.on('data', look);
    void server.exited.then(fail('the server ended')).then(() => clearTimeout(timer));
    look();
  });

/** Waits until the log of a server contains a text. */
export const untilLogged = async (server: ProgramProcess, text: string): Promise<void> =>
  untilOutput(server, (stdout) => stdout.includes(text));

/** Starts a server without tokens. Resolves with it and with the curl command that it prints. */
export const startWithoutTokens = async (options: ProgramOptions) => {
  const server = spawnProgram({ ...options, env: { PLANTSTORE_PORT: '0', ...options.env } });
  const printed = /^curl.*'(https?:[^']+)'.*$/m;
  await untilOutput(server, (_, stderr) => printed.test(stderr));
  const [curl = '', url = ''] = printed.exec(server.stderr()) ?? [];
  return { ...server, curl, url, token: /Bearer ([^']+)/.exec(curl)?.[1] ?? '' };
};

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
