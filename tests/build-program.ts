import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

const build = fileURLToPath(new URL('../scripts/build.mjs', import.meta.url));
/** The projects whose tests start no program of the packages, and no thread of SQLite. */
const startsNone = ['bench', ...['client', 'core', 'server'].map((name) => `packages/${name}`)];

/** Builds the packages once for all tests that start the program or an example, which then start faster. */
export const setup = ({ vitest }: TestProject): void => {
  if (vitest.projects.every(({ name }) => startsNone.includes(name))) return;
  execFileSync(process.execPath, [build, '--no-declarations'], { stdio: ['ignore', 2, 2] });
};
