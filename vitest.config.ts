import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

const packages = [
  'packages/core',
  'packages/sqlite',
  'packages/postgres',
  'packages/server',
  'packages/client',
];
const folders = [...packages, 'examples', 'tests', 'tests/packages', 'bench'];

/** What a folder's tests share: a database server, and the packed packages. */
const globalSetups: Readonly<Record<string, string>> = {
  'packages/postgres': 'packages/postgres/test/global-setup.ts',
  'tests/packages': 'tests/packages/pack.ts',
};

/** The tests of a folder. */
export const testsIn = (folder: string): TestProjectInlineConfiguration => ({
  root: folder,
  // Workspace packages resolve to their sources, so that no test needs a build.
  ssr: {
    resolve: { conditions: ['@plantstore/source', 'module', 'node', 'development|production'] },
  },
  test: {
    name: folder,
    // These folders have a project of their own.
    exclude: [...configDefaults.exclude, 'packages/**', 'timing/**'],
    // Machines are shared and noisy; a test that hangs is still found.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    globalSetup: [globalSetups[folder] ?? []]
      .flat()
      .map((path) => fileURLToPath(new URL(path, import.meta.url))),
    typecheck: { enabled: packages.includes(folder), tsconfig: '../../tsconfig.json' },
  },
});

export default defineConfig({
  test: {
    // Most tests wait more than they compute; by default, one core would be left idle.
    maxWorkers: '100%',
    projects: folders.map(testsIn),
    coverage: {
      provider: 'v8',
      include: ['**/src/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*.test-d.ts'],
      reporter: ['text-summary'],
      // What runs in threads and processes of their own (the SQLite worker, the bin) is not counted.
      thresholds: { lines: 80, branches: 75 },
    },
  },
});
