import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

const build = fileURLToPath(new URL('../scripts/build.mjs', import.meta.url));
const startsProgram = new Set(['packages/sqlite', 'packages/postgres', 'tests', 'examples']);

/** Builds the packages once for all tests that start the program or an example, which then start faster. */
export const setup = ({ vitest }: TestProject): void => {
  if (!vitest.projects.some(({ name }) => startsProgram.has(name))) return;
  execFileSync(process.execPath, [build, '--no-declarations'], { stdio: ['ignore', 2, 2] });
};
