import { defineConfig } from 'vitest/config';
import { reporters, testsIn } from '../../vitest.config.ts';

/** Tests that compare times or throughput. They run sequentially, on a machine without other load. */
export default defineConfig({
  test: { reporters, projects: [testsIn('tests/timing')], fileParallelism: false },
});
