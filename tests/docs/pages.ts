import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

export const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Every page of the repository, by its path from the root. */
export const pages = globSync(['*.md', '{docs,examples,packages,tests,.changeset}/**/*.md'], {
  cwd: root,
  exclude: ['**/node_modules/**', '**/dist/**'],
}).toSorted();
