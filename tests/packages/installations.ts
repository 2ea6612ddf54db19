import { globSync, readFileSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { runIn } from './run-in.ts';

/** An installation of the packages by a package manager. */
export type Installation = {
  /** Folder from which a script can import every package. */
  readonly folder: string;
  /** Environment variables with which Node resolves the packages. */
  readonly env: Readonly<Record<string, string>>;
  /** Command that starts the program. */
  readonly bin: readonly [string, ...string[]];
};

type Dependencies = Readonly<Record<string, string>>;

/** Installs packages into an empty folder. The registry has ours, and passes on the others. */
type Install = (
  folder: string,
  registry: string,
  dependencies?: Dependencies,
) => Promise<Installation>;

const env = { PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}` };

/** The installation by a package manager that links programs into `node_modules/.bin`. */
export const installationIn = (folder: string): Installation => ({
  folder,
  env,
  bin: [join(folder, 'node_modules/.bin/plantstore')],
});

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
const writeProject = async (folder: string, registry: string, dependencies: Dependencies) => {
  await mkdir(folder, { recursive: true });
  const manifest = { private: true, type: 'module', dependencies };
  await writeJson(join(folder, 'package.json'), manifest);
  await writeFile(join(folder, '.npmrc'), `registry=${registry}\n`);
};

const quiet = ['--no-audit', '--no-fund'];

export const npm: Install = async (folder, registry, dependencies = withZod) => {
  await writeProject(folder, registry, dependencies);
  await runIn(folder, 'npm', ['install', ...quiet]);
  return installationIn(folder);
};

/** With pnpm, where a package can import only the dependencies of its manifest. */
export const pnpmWithoutHoisting: Install = async (folder, registry, dependencies = withZod) => {
  await writeProject(folder, registry, dependencies);
  await writeJson(join(folder, 'pnpm-workspace.yaml'), {
    nodeLinker: 'isolated',
    hoist: false,
    publicHoistPattern: [],
    strictPeerDependencies: true,
    // pnpm delays new releases by default.
    minimumReleaseAge: 0,
    // As documented in the README of the client.
    ignoredOptionalDependencies: ['@rollup/rollup-linux-x64-gnu'],
  });
  await runIn(folder, 'npx', ['-y', 'pnpm@12', 'install']);
  return installationIn(folder);
};

export const npmGlobally: Install = async (prefix, registry) => {
  // npm does not read the settings of a project for a global installation.
  const options = ['--global', `--registry=${registry}`, '--prefix', prefix];
  await mkdir(prefix);
  await runIn(prefix, 'npm', ['install', ...quiet, ...options, ...Object.keys(withZod)]);
  return { folder: join(prefix, 'lib'), env, bin: [join(prefix, 'bin/plantstore')] };
};

/** With Yarn, where a package can import only the dependencies of its manifest, too. */
export const yarnPlugAndPlay: Install = async (folder, registry) => {
  await writeProject(folder, registry, withZod);
  await writeFile(join(folder, 'yarn.lock'), '');
  await writeJson(join(folder, '.yarnrc.yml'), {
    nodeLinker: 'pnp',
    globalFolder: join(folder, 'yarn'),
    // Yarn does not read npm's configuration.
    npmRegistryServer: registry,
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
  const bin = (await yarn('bin', 'plantstore')).stdout.trim();
  const loader = pathToFileURL(join(folder, '.pnp.loader.mjs')).href;
  // The value that `yarn node` sets.
  const NODE_OPTIONS = `--require ${join(folder, '.pnp.cjs')} --experimental-loader ${loader}`;
  return { folder, env: { ...env, NODE_OPTIONS }, bin: [process.execPath, bin] };
};

/** Returns packages with the versions that the workspace has. */
const versionsOf = (...names: readonly string[]): Dependencies =>
  Object.fromEntries(
    names.map((name) => {
      const manifest = join(root, 'node_modules', name, 'package.json');
      const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
      return [name, version];
    }),
  );

/** The compiler, and the types of Node. */
export const compiler = versionsOf('typescript', '@types/node');
/** Frameworks of the example servers, in the versions of the benchmark. */
const { express, fastify } = (
  JSON.parse(readFileSync(join(root, 'bench/peers/package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<'express' | 'fastify', string>>;
  }
).dependencies;
const frameworks = { express, fastify, '@types/express': '5' };

const copyInto = async (folder: string, path: string, name = '') =>
  cp(join(root, path), join(folder, name), { recursive: true });

/** Installs all packages and what the programs of the tests need, and copies these programs. */
export const installApp = async (folder: string, registry: string): Promise<void> => {
  await npm(folder, registry, { ...withZod, ...compiler, ...frameworks });
  await copyInto(folder, 'tests/packages/consumer');
  await copyInto(folder, 'tests/packages/runtimes/programs', 'programs');
  await copyInto(folder, 'examples/servers', 'servers');
};

/** Installs packages that the tests run, each under the name of its folder in `node_modules`. */
export const installTools = async (folder: string): Promise<void> => {
  await mkdir(folder);
  const dependencies = {
    'node-20': 'npm:node@20',
    'node-22.18': 'npm:node@22.18.0',
    'node-26': 'npm:node@26',
    'typescript-5.4': 'npm:typescript@5.4',
    bun: 'latest',
    deno: 'latest',
    'node-fetch': '3',
    'node-fetch-2': 'npm:node-fetch@2.7.0',
    workerd: 'latest',
  };
  await writeJson(join(folder, 'package.json'), { private: true, dependencies });
  await runIn(folder, 'npm', ['install', ...quiet]);
};
