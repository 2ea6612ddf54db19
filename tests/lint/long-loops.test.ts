import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

it('pnpm test:all runs every test file that imports the sample of a long loop', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const [, filters = ''] = /vitest run (.*)/.exec(scripts['test:all'] ?? '') ?? [];
  const patterns = ['packages/*/src/**/*.test.ts', 'tests/**/*.test.ts', 'examples/*.test.ts'];
  const sampled = globSync(patterns, { cwd: root }).filter((file) =>
    /^import .*'@plantstore\/test-support\/sample'/m.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(sampled.length).toBeGreaterThan(10);
  const isRun = (file: string) => filters.split(' ').some((filter) => file.includes(filter));
  expect(sampled.filter((file) => !isRun(file))).toEqual([]);
});
