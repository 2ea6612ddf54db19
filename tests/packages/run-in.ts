import { type ChildProcess, execFile } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

const exec = promisify(execFile);

// Variables that npx, pnpm and vitest set for child processes. They would direct npm to this
// workspace, or change the output of the programs.
const workspaceVariables =
  /^(npm_(?!config_)|npm_config_(local_|global_)?prefix$|pnpm_|vitest|force_color$|node_(options|path|env|v8_coverage)$)/i;
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !workspaceVariables.test(name)),
);

/** Output of a program. */
export type Output = { readonly stdout: string; readonly stderr: string };

type RunOptions = {
  readonly node?: string;
  readonly env?: Readonly<Record<string, string>>;
};

/** Runs a program in a folder, without the environment of this workspace. */
export const runIn = async (
  folder: string,
  command: string,
  args: readonly string[],
  { node = process.execPath, env: more = {} }: RunOptions = {},
): Promise<Output> => {
  const PATH = `${dirname(node)}${delimiter}${env['PATH'] ?? ''}`;
  return exec(command, args, { cwd: folder, env: { ...env, PATH, ...more } });
};

/** Resolves when a server responds; rejects if its process exits before. */
export const untilItResponds = async (server: ChildProcess, url: string): Promise<void> => {
  const responds = async () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  while (!(await responds())) {
    if (server.exitCode !== null) throw new Error(`the server exited with ${server.exitCode}`);
    await setTimeout(100);
  }
};
