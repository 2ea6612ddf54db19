import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { latest, writeProject } from './layouts.ts';
import { type Output, runIn } from './run-in.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A folder outside the workspace into which npm has installed the released packages. */
export type Installation = {
  readonly folder: string;
  /** Runs a program in the folder. Default of `node`: the Node that runs the tests. */
  run(command: string, args: readonly string[], node?: string): Promise<Output>;
  /** Installs another version of TypeScript and returns the path of its compiler. */
  getTypeScript(version: string): Promise<string>;
  /** Installs another version of Node and returns the path of its executable. */
  getNode(version: string): Promise<string>;
  /** Installs an npm package with a program of the same name and returns the path of the program. */
  getProgram(name: string): Promise<string>;
  /** Returns the content of a file in `node_modules`. */
  read(path: string): Promise<string>;
  /** Removes the folder. */
  remove(): Promise<void>;
};

const versionsFromCatalog = async (
  names: readonly string[],
): Promise<Readonly<Record<string, string>>> => {
  const workspace = await readFile(join(root, 'pnpm-workspace.yaml'), 'utf8');
  return Object.fromEntries(
    names.map((name) => {
      const [, version = 'latest'] =
        new RegExp(`^ +'?${name}'?: (\\S+)$`, 'm').exec(workspace) ?? [];
      return [name, version];
    }),
  );
};

/**
 * Installs the released packages into a folder outside the workspace, with `more` packages of the catalog, and `others` with
 * their versions.
 */
export const installOutsideWorkspace = async (
  more: readonly string[] = [],
  others: Readonly<Record<string, string>> = {},
): Promise<Installation> => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-installation-'));
  const run: Installation['run'] = async (command, args, node = process.execPath) =>
    runIn(folder, command, args, { node });
  const npmInstall = async (...args: readonly string[]) =>
    run('npm', ['install', '--no-audit', '--no-fund', ...args]);

  const tools = await versionsFromCatalog(['typescript', '@types/node', ...more]);
  await writeProject(folder, { ...latest, ...tools, ...others });
  await npmInstall();
  await cp(fileURLToPath(new URL('consumer', import.meta.url)), folder, { recursive: true });

  return {
    folder,
    run,
    async getTypeScript(version) {
      const prefix = join(folder, `typescript-${version}`);
      await npmInstall('--prefix', prefix, `typescript@${version}`);
      return join(prefix, 'node_modules/typescript/bin/tsc');
    },
    async getNode(version) {
      await npmInstall('--prefix', join(folder, `node-${version}`), `node@${version}`);
      return join(folder, `node-${version}`, 'node_modules/node/bin/node');
    },
    async getProgram(name) {
      await npmInstall('--prefix', join(folder, `program-${name}`), name);
      return join(folder, `program-${name}`, 'node_modules/.bin', name);
    },
    read: async (path) => readFile(join(folder, 'node_modules', path), 'utf8'),
    remove: async () => rm(folder, { recursive: true, force: true }),
  };
};
