import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { testsIn } from '../../vitest.config.ts';

const projects = ['packages/core', 'packages/client', 'packages/server'].map((folder) => {
  const project = testsIn(folder);
  return {
    ...project,
    // Mutants make many tests wait for ever.
    test: { ...project.test, testTimeout: 5_000, typecheck: { enabled: false } },
  };
});

export default defineConfig({
  root: fileURLToPath(new URL('../../', import.meta.url)),
  test: { projects },
});
