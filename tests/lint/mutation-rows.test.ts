import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@plantstore/test-support/related-tests';
import { expect, it } from 'vitest';
import { rows } from '../mutation/rows.ts';

const sources = globSync('packages/*/src/**/*.ts', { cwd: root, exclude: ['**/*.test.ts'] })
  .map((file) => readFileSync(join(root, file), 'utf8'))
  .join('\n');

// `pnpm test:mutants --rows` cannot apply the others.
it('each change by hand of the sources replaces a text that occurs once in them', () => {
  const texts = rows.map(([text]) => text);
  expect(texts.filter((text) => sources.split(text).length !== 2)).toEqual([]);
});
