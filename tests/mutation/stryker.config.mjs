export default {
  mutate: [
    'packages/core/src/**/*.ts',
    'packages/client/src/**/*.ts',
    'packages/server/src/{http,node,fetch}/**/*.ts',
    // Tests for authors of a store, and a document that is compared with packages/core/openapi.json.
    '!packages/core/src/{contract-plants,repository-contract,openapi}.ts',
    '!**/*.{test,test-d}.ts',
  ],
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'tests/mutation/vitest.config.ts' },
  concurrency: 2,
  // Nothing compiles the mutants. Without this, Stryker rewrites tsconfig.json with TypeScript's old API.
  tsconfigFile: 'none',
  reporters: ['progress-append-only', 'clear-text', 'json'],
  clearTextReporter: { allowColor: false, reportTests: false },
  thresholds: { high: 95, low: 90, break: 90 },
};
