import { area } from './areas.ts';

export default {
  mutate: [...area().sources, '!**/*.test.ts', '!**/*.test-d.ts'],
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
