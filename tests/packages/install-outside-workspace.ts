import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inject } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const exec = promisify(execFile);

// Variables that npx, pnpm and vitest set for child processes. They would direct npm to this workspace, or
// change the output of the programs.
const workspaceVariables =
  /^(npm_(?!config_)|npm_config_(local_|global_)?prefix$|pnpm_|vitest|force_color$|node_(options|path|env|v8_coverage)$)/i;
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !workspaceVariables.test(name)),
);

/** A folder outside the workspace into which the packed packages are installed. */
export type Installation = {
  readonly folder: string;
  /** Runs a program in the folder. Default of `node`: the Node that runs the tests. */
  run(command: string, args: readonly string[], node?: string): Promise<Output>;
  /** Installs another version of Node and returns the path of its executable. */
  getNode(version: string): Promise<string>;
  /** Installs an npm package with a program of the same name and returns the path of the program. */
  getProgram(name: string): Promise<string>;
  /** Returns the content of a file in `node_modules`. */
  read(path: string): Promise<string>;
  /** Removes the folder. */
  remove(): Promise<void>;
};

/** Output of a program. */
export type Output = { readonly stdout: string; readonly stderr: string };

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

type RunOptions = {
  readonly node?: string;
  readonly env?: Readonly<Record<string, string>>;
};

const versionsFromCatalog = async (...names: readonly string[]): Promise<string[]> => {
  const workspace = await readFile(join(root, 'pnpm-workspace.yaml'), 'utf8');
  return names.map((name) => {
    const [, version = 'latest'] = new RegExp(`^ +'?${name}'?: (\\S+)$`, 'm').exec(workspace) ?? [];
    return `${name}@${version}`;
  });
};

/** Installs the packed packages into a folder outside the workspace, with `more` packages of the catalog. */
export const installOutsideWorkspace = async (
  more: readonly string[] = [],
): Promise<Installation> => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-installation-'));
  const run: Installation['run'] = async (command, args, node = process.execPath) =>
    runIn(folder, command, args, { node });
  const npmInstall = async (...args: readonly string[]) =>
    run('npm', ['install', '--no-audit', '--no-fund', '--prefix', ...args]);

  const tarballs = inject('tarballs');
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const tools = await versionsFromCatalog('typescript', '@types/node', ...more);
  const packages = (await readdir(tarballs)).map((file) => join(tarballs, file));
  await npmInstall(folder, ...packages, ...tools);
  await cp(fileURLToPath(new URL('consumer', import.meta.url)), folder, { recursive: true });

  return {
    folder,
    run,
    async getNode(version) {
      await npmInstall(join(folder, `node-${version}`), `node@${version}`);
      return join(folder, `node-${version}`, 'node_modules/node/bin/node');
    },
    async getProgram(name) {
      await npmInstall(join(folder, `program-${name}`), name);
      return join(folder, `program-${name}`, 'node_modules/.bin', name);
    },
    read: async (path) => readFile(join(folder, 'node_modules', path), 'utf8'),
    remove: async () => rm(folder, { recursive: true, force: true }),
  };
};
