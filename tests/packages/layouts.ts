import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inject } from 'vitest';
import { runIn } from './stranger.ts';

/** The packages as a package manager has laid them out. */
export type Layout = {
  /** A script in this folder can import every package. */
  readonly folder: string;
  /** The environment in which Node finds the packages. */
  readonly env: Readonly<Record<string, string>>;
  /** Starts the bundled host. */
  readonly bin: readonly [string, ...string[]];
};

const env = { PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}` };

const shimIn = (folder: string): Layout['bin'] => [
  join(folder, 'node_modules/.bin/plantstore-server'),
];

/** The tarballs by the names of their packages. */
const tarballs = Object.fromEntries(
  readdirSync(inject('tarballs')).map((file) => [
    file.replace(/^plantstore-(\w+)-.*$/, '@plantstore/$1'),
    `file:${join(inject('tarballs'), file)}`,
  ]),
);

/** Returns the folders of what npm has installed in one, by name. */
const foldersIn = async (folder: string): Promise<Readonly<Record<string, string>>> => {
  const list = await readFile(join(folder, 'node_modules/.package-lock.json'), 'utf8');
  const { packages } = JSON.parse(list) as { packages: Record<string, unknown> };
  return Object.fromEntries(
    Object.keys(packages).map((path) => [
      path.replace(/^.*node_modules\//, ''),
      `file:${join(folder, path)}`,
    ]),
  );
};

const writeJson = async (path: string, value: unknown) => writeFile(path, JSON.stringify(value));

const manifest = { private: true, type: 'module' };

/** Installs the packed client into a folder, and no other package of ours. */
export const installClient = async (folder: string): Promise<void> => {
  const { '@plantstore/client': client } = tarballs;
  const dependencies = { '@plantstore/client': client };
  await writeJson(join(folder, 'package.json'), { ...manifest, dependencies });
  await writeJson(join(folder, 'pnpm-workspace.yaml'), {
    nodeLinker: 'isolated',
    hoist: false,
    publicHoistPattern: [],
    // As the client's README advises.
    ignoredOptionalDependencies: ['@rollup/rollup-linux-x64-gnu'],
  });
  await runIn(folder, 'npx', ['-y', 'pnpm@12', 'install']);
};

/** Installs the packed packages into a folder; npm has installed them into another one before. */
export type Install = (folder: string, installedByNpm: string) => Promise<Layout>;

/** Layouts in which a package finds only what its manifest declares. */
export const strictLayouts: Readonly<Record<string, Install>> = {
  async 'pnpm without hoisting'(folder) {
    await writeJson(join(folder, 'package.json'), { ...manifest, dependencies: tarballs });
    await writeJson(join(folder, 'pnpm-workspace.yaml'), {
      nodeLinker: 'isolated',
      hoist: false,
      publicHoistPattern: [],
      // The packages' dependencies on each other would be looked for in the registry.
      overrides: tarballs,
    });
    await runIn(folder, 'npx', ['-y', 'pnpm@12', 'install']);
    return { folder, env, bin: shimIn(folder) };
  },

  async "npm's linked strategy"(folder) {
    await writeJson(join(folder, 'package.json'), manifest);
    const how = ['--install-strategy=linked', '--no-audit', '--no-fund', '--prefix', folder];
    await runIn(folder, 'npm', ['install', ...how, ...Object.values(tarballs)]);
    return { folder, env, bin: shimIn(folder) };
  },

  async 'npm, globally and side by side'(prefix) {
    const how = ['--global', '--no-audit', '--no-fund', '--prefix', prefix];
    await runIn(prefix, 'npm', ['install', ...how, ...Object.values(tarballs)]);
    return { folder: join(prefix, 'lib'), env, bin: [join(prefix, 'bin/plantstore-server')] };
  },

  async "Yarn's Plug'n'Play"(folder, installedByNpm) {
    // Yarn does not read npm's settings, so it takes all other packages from npm's folder.
    const resolutions = { ...(await foldersIn(installedByNpm)), ...tarballs };
    await writeJson(join(folder, 'package.json'), {
      ...manifest,
      dependencies: tarballs,
      resolutions,
    });
    await writeFile(join(folder, 'yarn.lock'), '');
    await writeJson(join(folder, '.yarnrc.yml'), {
      nodeLinker: 'pnp',
      globalFolder: join(folder, 'yarn'),
      enableNetwork: false,
      enableTelemetry: false,
      // In CI, Yarn would want the lockfile to be complete.
      enableImmutableInstalls: false,
    });
    const yarn = async (...args: readonly string[]) =>
      runIn(folder, 'npx', ['-y', '--package=@yarnpkg/cli-dist@4', 'yarn', ...args]);
    await yarn('install');
    const bin = (await yarn('bin', 'plantstore-server')).stdout.trim();
    const loader = pathToFileURL(join(folder, '.pnp.loader.mjs')).href;
    // As `yarn node` sets it.
    const NODE_OPTIONS = `--require ${join(folder, '.pnp.cjs')} --experimental-loader ${loader}`;
    return { folder, env: { ...env, NODE_OPTIONS }, bin: [process.execPath, bin] };
  },
};
