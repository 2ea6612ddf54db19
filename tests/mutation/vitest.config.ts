import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { testsIn } from '../../vitest.config.ts';

const projects = ['packages/core', 'packages/client', 'packages/server'].map((folder) => {
  const project = testsIn(folder);
  // A mutant that fails a check of types at most does not change what the code does.
  return { ...project, test: { ...project.test, typecheck: { enabled: false } } };
});

export default defineConfig({
  root: fileURLToPath(new URL('../../', import.meta.url)),
  test: { projects },
});
