import { globSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { defineConfig, type Options } from 'tsup';

type Manifest = {
  exports: Record<string, string | { '@plantstore/source': string }>;
  bin?: Record<string, string>;
};

const manifestOf = (packageName: string): Manifest =>
  JSON.parse(readFileSync(`packages/${packageName}/package.json`, 'utf8')) as Manifest;

/** What can be imported of a package. */
const modulesOf = (packageName: string): string[] =>
  Object.values(manifestOf(packageName).exports).flatMap((target) =>
    typeof target === 'string'
      ? []
      : [`packages/${packageName}/${target['@plantstore/source'].slice(2)}`],
  );

const programsOf = (packageName: string): string[] =>
  Object.values(manifestOf(packageName).bin ?? {}).map(
    (path) =>
      `packages/${packageName}/${path.slice(2).replace('dist', 'src').replace('.js', '.ts')}`,
  );

const runsInBrowsers = (packageName: string): boolean =>
  packageName === 'core' || packageName === 'client';

const options = (packageName: string): Options => ({
  outDir: `packages/${packageName}/dist`,
  format: ['esm'],
  // Syntax of ES2024 is Baseline "widely available", which the client promises; it contains modules of core.
  target: runsInBrowsers(packageName) ? 'es2024' : 'node22',
  platform: runsInBrowsers(packageName) ? 'neutral' : 'node',
  // tsup's declarations need the compiler API that TypeScript 7 has not; tsc makes them.
  dts: false,
  // Without its prefix, node:sqlite does not exist.
  removeNodeProtocol: false,
  silent: true,
});

/** Puts all output of a package into one folder, so that a worker is beside each chunk that starts it. */
const inOneFolder = (modules: readonly string[]): Record<string, string> =>
  Object.fromEntries(modules.map((module) => [basename(module, '.ts'), module]));

/** esbuild does not follow the URL of a worker: replaces its extension. */
const builtWorkers: NonNullable<Options['plugins']>[number] = {
  name: 'built-workers',
  renderChunk: (code) => ({
    code: code.replaceAll(/(new URL\("\.\/[a-z-]+-worker)\.ts"/g, '$1.mjs"'),
  }),
};

const packages = globSync('packages/*/package.json').map((file) => basename(dirname(file)));

const isSchemas = (module: string): boolean => module.endsWith('/schemas.ts');

export default defineConfig([
  // The client and core are below.
  ...packages
    .filter((packageName) => !runsInBrowsers(packageName))
    .map((packageName) => ({
      ...options(packageName),
      name: packageName,
      entry: inOneFolder([...modulesOf(packageName), ...programsOf(packageName)]),
      plugins: [builtWorkers],
      skipNodeModulesBundle: true,
      // Only `import` of CSV loads its module.
      noExternal: ['csv-parse'],
      external: [/^@plantstore\//],
    })),
  {
    ...options('sqlite'),
    name: 'workers',
    entry: inOneFolder(globSync('packages/sqlite/src/*/*-worker.ts')),
    // A bundler copies the one file, also into a folder whose .js files are CommonJS.
    splitting: false,
    noExternal: [/./],
    outExtension: () => ({ js: '.mjs' }),
    esbuildOptions: (esbuild) => {
      esbuild.conditions = ['@plantstore/source'];
    },
  },
  {
    ...options('core'),
    name: 'core',
    entry: modulesOf('core').filter((module) => !isSchemas(module)),
    skipNodeModulesBundle: true,
    // The part of zod that is used: zod loads all of its modules, and is 8 MB of an install.
    noExternal: ['zod'],
    esbuildOptions: (esbuild) => {
      // From the root, in which aliases are resolved.
      esbuild.alias = { zod: './packages/core/node_modules/zod/mini/index.js' };
    },
  },
  {
    ...options('core'),
    name: 'schemas',
    // With the zod of the app, so that the app can combine these schemas with its own.
    entry: modulesOf('core').filter(isSchemas),
    skipNodeModulesBundle: true,
  },
  {
    ...options('client'),
    name: 'client',
    entry: modulesOf('client'),
    skipNodeModulesBundle: true,
    // Core's part of the wire, so that an install does not bring core.
    noExternal: ['@plantstore/core/wire'],
    esbuildOptions: (esbuild) => {
      esbuild.conditions = ['@plantstore/source'];
    },
  },
]);
