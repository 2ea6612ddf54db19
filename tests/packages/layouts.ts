import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inject } from 'vitest';
import { runIn } from './install-outside-workspace.ts';

/** An installation of the packages by a package manager. */
export type Layout = {
  /** Folder from which a script can import every package. */
  readonly folder: string;
  /** Environment variables with which Node resolves the packages. */
  readonly env: Readonly<Record<string, string>>;
  /** Command that starts the bundled host. */
  readonly bin: readonly [string, ...string[]];
};

const env = { PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}` };

const shimIn = (folder: string): Layout['bin'] => [
  join(folder, 'node_modules/.bin/plantstore-server'),
];

/** The tarballs by package name. */
const tarballs = Object.fromEntries(
  readdirSync(inject('tarballs')).map((file) => [
    file.replace(/^plantstore-(\w+)-.*$/, '@plantstore/$1'),
    `file:${join(inject('tarballs'), file)}`,
  ]),
);

/** Returns the folders of the packages that npm has installed in a folder, by package name. */
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

/** Installs the packed client alone into a folder. */
export const installClient = async (folder: string): Promise<void> => {
  const { '@plantstore/client': client } = tarballs;
  const dependencies = { '@plantstore/client': client };
  await writeJson(join(folder, 'package.json'), { ...manifest, dependencies });
  await writeJson(join(folder, 'pnpm-workspace.yaml'), {
    nodeLinker: 'isolated',
    hoist: false,
    publicHoistPattern: [],
    // As documented in the README of the client.
    ignoredOptionalDependencies: ['@rollup/rollup-linux-x64-gnu'],
  });
  await runIn(folder, 'npx', ['-y', 'pnpm@12', 'install']);
};

/** Installs the packed packages into a folder; npm has already installed them into `installedByNpm`. */
export type Install = (folder: string, installedByNpm: string) => Promise<Layout>;

/** Layouts in which a package can import only the dependencies of its manifest. */
export const strictLayouts: Readonly<Record<string, Install>> = {
  async 'pnpm without hoisting'(folder) {
    await writeJson(join(folder, 'package.json'), { ...manifest, dependencies: tarballs });
    await writeJson(join(folder, 'pnpm-workspace.yaml'), {
      nodeLinker: 'isolated',
      hoist: false,
      publicHoistPattern: [],
      // Without overrides, pnpm would look up the packages' dependencies on each other in the registry.
      overrides: tarballs,
    });
    await runIn(folder, 'npx', ['-y', 'pnpm@12', 'install']);
    return { folder, env, bin: shimIn(folder) };
  },

  async "npm's linked strategy"(folder) {
    await writeJson(join(folder, 'package.json'), manifest);
    const options = ['--install-strategy=linked', '--no-audit', '--no-fund', '--prefix', folder];
    await runIn(folder, 'npm', ['install', ...options, ...Object.values(tarballs)]);
    return { folder, env, bin: shimIn(folder) };
  },

  async 'npm, globally and side by side'(prefix) {
    const options = ['--global', '--no-audit', '--no-fund', '--prefix', prefix];
    await runIn(prefix, 'npm', ['install', ...options, ...Object.values(tarballs)]);
    return { folder: join(prefix, 'lib'), env, bin: [join(prefix, 'bin/plantstore-server')] };
  },

  async "Yarn's Plug'n'Play"(folder, installedByNpm) {
    // Yarn does not read npm's configuration, so all other packages come from the folder of npm.
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
      // In CI, Yarn would require a complete lockfile.
      enableImmutableInstalls: false,
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
