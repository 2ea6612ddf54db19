import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const packages = [
  'packages/core',
  'packages/sqlite',
  'packages/postgres',
  'packages/server',
  'packages/client',
];
const rooms = [...packages, 'examples', 'tests', 'bench'];

export default defineConfig({
  test: {
    // Most tests wait more than they compute; by default, one core would be left idle.
    maxWorkers: '100%',
    projects: rooms.map((room) => ({
      root: room,
      // Workspace packages resolve to their sources, so that no test needs a build.
      ssr: {
        resolve: {
          conditions: ['@plantstore/source', 'module', 'node', 'development|production'],
        },
      },
      test: {
        name: room,
        // Machines are shared and noisy; a test that hangs is still found.
        testTimeout: 30_000,
        hookTimeout: 60_000,
        globalSetup:
          room === 'packages/postgres'
            ? [fileURLToPath(new URL('packages/postgres/test/global-setup.ts', import.meta.url))]
            : [],
        typecheck: { enabled: packages.includes(room), tsconfig: '../../tsconfig.json' },
      },
    })),
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
