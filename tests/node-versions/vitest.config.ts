import { defineConfig } from 'vitest/config';
import { maxWorkers, reporters, testsIn } from '../../vitest.config.ts';

/**
 * Tests of what a version of Node may change: SQLite, sockets, parsers, threads and permissions.
 * Also of what depends on the user, because CI runs them on the oldest version as another user.
 */
const files: Readonly<Record<string, readonly string[]>> = {
  'packages/plantstore': ['src/{settings,serve}/*', 'src/main'],
  'packages/postgres': ['src/bad-input'],
  'packages/server': ['src/{fetch,node}/**/!(flood|unwanted-bytes)'],
  'packages/sqlite': [
    'src/{power-cut,preloads,repository,restricted-process}',
    'src/{commit/failed-syncs,open/{bad-files,owner-lock,rewriter},read/*}',
  ],
  tests: ['black-box/{commands*,first-run,handed-sockets,stop,tls}'],
};

/** For other versions of Node than that of the workspace. Needs a build. */
export default defineConfig({
  test: {
    maxWorkers,
    reporters,
    projects: Object.entries(files).map(([folder, paths]) => {
      const project = testsIn(folder);
      return { ...project, test: { ...project.test, include: paths.map((p) => `${p}.test.ts`) } };
    }),
  },
});
