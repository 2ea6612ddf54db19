import { globSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { inject } from 'vitest';
import { runIn } from './run-in.ts';

/** An installation of the packages by a package manager. */
export type Layout = {
  /** Folder from which a script can import every package. */
  readonly folder: string;
  /** Environment variables with which Node resolves the packages. */
  readonly env: Readonly<Record<string, string>>;
  /** Command that starts the bundled server. */
  readonly bin: readonly [string, ...string[]];
};

const env = { PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}` };

const shimIn = (folder: string): Layout['bin'] => [
  join(folder, 'node_modules/.bin/plantstore-server'),
];

type Dependencies = Readonly<Record<string, string>>;

type Manifest = { readonly name: string; readonly exports: Readonly<Record<string, unknown>> };

const root = fileURLToPath(new URL('../../', import.meta.url));

const manifests = globSync('packages/*/package.json', { cwd: root }).map(
  (file) => JSON.parse(readFileSync(join(root, file), 'utf8')) as Manifest,
);

/** Every export of every package in the sources, as imports name them. */
export const specifiers: readonly string[] = manifests
  .flatMap(({ name, exports }) => Object.keys(exports).map((path) => name + path.slice(1)))
  .toSorted();

/** Dependencies on the newest release of each package. */
export const latest: Dependencies = Object.fromEntries(
  manifests.map(({ name }) => [name, 'latest']),
);

/** The same, with the optional peer dependency of core that its schemas need. */
const withZod: Dependencies = { ...latest, zod: 'latest' };

const writeJson = async (path: string, value: unknown) => writeFile(path, JSON.stringify(value));

/** Writes the manifest of a user, and the setting that finds the released packages. */
export const writeProject = async (folder: string, dependencies: Dependencies): Promise<void> => {
  const manifest = { private: true, type: 'module', dependencies };
  await writeJson(join(folder, 'package.json'), manifest);
  await writeFile(join(folder, '.npmrc'), `@plantstore:registry=${inject('release').registry}\n`);
};

const withoutHoisting = {
  nodeLinker: 'isolated',
  hoist: false,
  publicHoistPattern: [],
  // pnpm delays new releases by default.
  minimumReleaseAge: 0,
};

/** Installs the released client alone into a folder. */
export const installClient = async (folder: string): Promise<void> => {
  await writeProject(folder, { '@plantstore/client': 'latest' });
  await writeJson(join(folder, 'pnpm-workspace.yaml'), {
    ...withoutHoisting,
    // As documented in the README of the client.
    ignoredOptionalDependencies: ['@rollup/rollup-linux-x64-gnu'],
  });
  await runIn(folder, 'npx', ['-y', 'pnpm@12', 'install']);
};

/** Installations by each package manager. In all but npm's, a package can import only the dependencies of its manifest. */
export const layouts: Readonly<Record<string, (folder: string) => Promise<Layout>>> = {
  async npm(folder) {
    await writeProject(folder, withZod);
    await runIn(folder, 'npm', ['install', '--no-audit', '--no-fund']);
    return { folder, env, bin: shimIn(folder) };
  },

  async 'pnpm without hoisting'(folder) {
    await writeProject(folder, withZod);
    await writeJson(join(folder, 'pnpm-workspace.yaml'), withoutHoisting);
    await runIn(folder, 'npx', ['-y', 'pnpm@12', 'install']);
    return { folder, env, bin: shimIn(folder) };
  },

  async "npm's linked strategy"(folder) {
    await writeProject(folder, withZod);
    const options = ['--install-strategy=linked', '--no-audit', '--no-fund'];
    await runIn(folder, 'npm', ['install', ...options]);
    return { folder, env, bin: shimIn(folder) };
  },

  async 'npm, globally and side by side'(prefix) {
    // npm does not read the settings of a project for a global installation.
    const registry = `--@plantstore:registry=${inject('release').registry}`;
    const options = ['--global', '--no-audit', '--no-fund', registry, '--prefix', prefix];
    await runIn(prefix, 'npm', ['install', ...options, ...Object.keys(withZod)]);
    return { folder: join(prefix, 'lib'), env, bin: [join(prefix, 'bin/plantstore-server')] };
  },

  async "Yarn's Plug'n'Play"(folder) {
    await writeProject(folder, withZod);
    await writeFile(join(folder, 'yarn.lock'), '');
    await writeJson(join(folder, '.yarnrc.yml'), {
      nodeLinker: 'pnp',
      globalFolder: join(folder, 'yarn'),
      // Yarn does not read npm's configuration.
      npmRegistryServer: inject('release').registry,
      unsafeHttpWhitelist: ['127.0.0.1'],
      enableTelemetry: false,
      // In CI, Yarn would require a complete lockfile.
      enableImmutableInstalls: false,
      // Yarn delays new releases by default.
      npmMinimalAgeGate: 0,
    });
    const yarn = async (...args: readonly string[]) =>
      runIn(folder, 'npx', ['-y', '--package=@yarnpkg/cli-dist@4', 'yarn', ...args]);
    await yarn('install');
    const bin = (await yarn('bin', 'plantstore-server')).stdout.trim();
    const loader = pathToFileURL(join(folder, '.pnp.loader.mjs')).href;
    // The value that `yarn node` sets.
    const NODE_OPTIONS = `--require ${join(folder, '.pnp.cjs')} --experimental-loader ${loader}`;
    return { folder, env: { ...env, NODE_OPTIONS }, bin: [process.execPath, bin] };
  },
};
