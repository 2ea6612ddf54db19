import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { testsIn } from '../../vitest.config.ts';
import { area } from './areas.ts';

const { folder, tests } = area();
const project = testsIn(folder);

export default defineConfig({
  root: fileURLToPath(new URL('../../', import.meta.url)),
  test: {
    projects: [
      {
        ...project,
        test: {
          ...project.test,
          include: [...tests],
          // Mutants make many tests wait forever.
          testTimeout: 5_000,
        },
      },
    ],
  },
});
