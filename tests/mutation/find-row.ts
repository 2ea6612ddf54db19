import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@plantstore/test-support/related-tests';
import { err, ok, type Result } from 'neverthrow';
import type { Row } from './rows.ts';

const sources = globSync('packages/*/src/**/*.ts', { cwd: root, exclude: ['**/*.test.ts'] }).map(
  (file) => ({ file, source: readFileSync(join(root, file), 'utf8') }),
);

/** The file that a row changes, its source, and the test file that must fail. */
type Place = { readonly file: string; readonly source: string; readonly testFile: string };

/** Finds what a row names. An error states what to correct in the row. */
export function findRow([promise, test, text]: Row): Result<Place, string> {
  const [place, ...others] = sources.filter(({ source }) => source.includes(text));
  if (place?.source.split(text).length !== 2 || others.length > 0)
    return err(`${promise}: its text does not occur exactly once: ${text}`);
  const options = { cwd: root, exclude: ['**/node_modules'] };
  const [testFile, ...otherFiles] = globSync(`{packages,tests}/**/${test}.test.ts`, options);
  if (testFile === undefined || otherFiles.length > 0)
    return err(`${promise}: ${test}.test.ts is not the end of exactly one path`);
  return ok({ ...place, testFile });
}
