import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bin, neededVariables } from './program.ts';

/** How a command ended. */
export type CommandResult = {
  /** `null` after a kill. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** What a command is run with, beside its arguments. */
export type CommandOptions = {
  readonly cwd: string;
  /** Standard input. Default: none. */
  readonly stdin?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
};

/** Runs a command of the real bin to its end. Its database is `plants.db` in the folder, unless the command or a variable names another. */
export const runCommand = async (
  args: readonly string[],
  { cwd, stdin = '', env = {} }: CommandOptions,
): Promise<CommandResult> => {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd,
    env: { ...neededVariables(), PLANTSTORE_DATABASE: 'sqlite:plants.db', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  // A command may end before it has read everything.
  child.stdin.on('error', () => {}).end(stdin);
  const exited = once(child, 'close');
  const [status] = (await exited) as [number | null];
  return { ...output, status };
};

/** Writes plants with ids beyond 2^53 as NDJSON, as `export` writes them, and returns the text. */
export const writePlants = async (path: string, count: number): Promise<string> => {
  const tags = ['', ',"tag":""', String.raw`,"tag":"a, \"b\"\n"`];
  const lines = Array.from(
    { length: count },
    (_, index) =>
      `{"id":${2n ** 53n + 1n + BigInt(index)},"name":"plant ${index} e\u0301 🪴"${tags[index % 3]}}\n`,
  );
  await writeFile(path, lines.join(''));
  return lines.join('');
};

/** The digest of a file. */
export const digestOf = async (folder: string, name: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(join(folder, name)))
    .digest('hex');
