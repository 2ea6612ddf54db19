import { join } from 'node:path';
import { inject } from 'vitest';
import { type Output, runIn } from './run-in.ts';

/** Compiles a project in a folder, with the version of TypeScript of the catalog or of a folder. */
export const compile = async (
  folder: string,
  name: keyof typeof projects,
  typescript = join(inject('release').app, 'node_modules/typescript'),
): Promise<Output> => {
  const strict = ['--strict', '--exactOptionalPropertyTypes'];
  const output = ['--rootDir', '.', '--outDir', `out/${name}`];
  const args = [join(typescript, 'bin/tsc'), ...strict, ...output, ...projects[name].split(' ')];
  return runIn(folder, process.execPath, args);
};

const node = '--target es2022 --lib es2022 --types node';
const all = 'use-core.ts use-sqlite.ts use-postgres.ts use-server.ts';
const withDom = '--target es2024 --lib es2024,dom,dom.iterable';

/** Options of the compiler, and files, as in an app. */
const projects = {
  nodenext: `${node} --module nodenext ${all}`,
  bundler: `${node} --module preserve --moduleResolution bundler ${all}`,
  types: `${node} --module nodenext use-types.ts`,
  node10: `${node} --module es2022 --moduleResolution node10 use-types.ts`,
  schemas: `--target es2024 --lib es2024 --types node --module nodenext use-schemas.ts`,
  browser: `${withDom} --module preserve --moduleResolution bundler use-in-browser.ts`,
  'browser-nodenext': `${withDom} --module nodenext use-in-browser.ts`,
  frameworks: `${node} --module nodenext servers/express.ts servers/fastify.ts`,
  declarations: `--declaration --target es2024 --module nodenext --skipLibCheck declarations.ts`,
} as const;
