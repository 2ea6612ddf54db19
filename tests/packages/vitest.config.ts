import { defineConfig } from 'vitest/config';
import { maxWorkers, reporters, testsIn } from '../../vitest.config.ts';

/** Tests of the released packages: installed by each package manager, on each runtime. */
export default defineConfig({
  test: { maxWorkers, reporters, projects: [testsIn('tests/packages')] },
});
