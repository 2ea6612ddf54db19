import { defineConfig } from 'vitest/config';

const packages = ['packages/core', 'packages/sqlite', 'packages/server', 'packages/client'];
const rooms = [...packages, 'examples', 'tests'];

export default defineConfig({
  test: {
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
        typecheck: { enabled: packages.includes(room), tsconfig: '../../tsconfig.json' },
      },
    })),
    coverage: {
      provider: 'v8',
      include: ['**/src/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*.test-d.ts'],
      reporter: ['text-summary'],
      thresholds: { lines: 90, branches: 85 },
    },
  },
});
