import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, posix, sep } from 'node:path';
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { skipReporter } from './tests/support/skip-reporter.ts';

const packages = globSync('packages/*/package.json', { cwd: import.meta.dirname })
  .map((file) => posix.dirname(file.replaceAll(sep, '/')))
  .toSorted();
const folders = [...packages, 'examples', 'tests', 'bench'];

// Without compiled code there, each program that a test starts compiles its modules again.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

/** Global setups of folders. */
const globalSetups: Readonly<Record<string, string>> = {
  'packages/postgres': join(import.meta.dirname, 'packages/postgres/test/global-setup.ts'),
  'tests/packages': join(import.meta.dirname, 'tests/packages/release.ts'),
};

/** Maximum time of a test, in milliseconds. It ends only a test that hangs. */
const testTimeout = 600_000;

/** Returns the project for the tests of a folder. */
export const testsIn = (folder: string): TestProjectInlineConfiguration => ({
  root: folder,
  // Tests import the sources of the packages. Only programs that they start come from the build
  // (tests/build-program.ts).
  ssr: {
    resolve: { conditions: ['@plantstore/source', 'module', 'node', 'development|production'] },
  },
  test: {
    name: folder,
    // These folders have configurations of their own.
    exclude: [...configDefaults.exclude, 'packages/**', 'deploy/**', 'timing/**'],
    // Tests leave nothing in their process, so that their files may share one.
    isolate: false,
    testTimeout,
    provide: { testTimeout },
    setupFiles: [join(import.meta.dirname, 'tests/support/watch-event-loop.ts')],
    // These times, too, end only what hangs.
    hookTimeout: 120_000,
    expect: { poll: { timeout: 300_000 } },
    globalSetup: [globalSetups[folder] ?? []].flat(),
  },
});

export const maxWorkers = availableParallelism();

export const reporters = [...configDefaults.reporters, skipReporter()];

export default defineConfig({
  test: {
    globalSetup: 'tests/build-program.ts',
    maxWorkers,
    reporters,
    projects: folders.map(testsIn),
  },
});
