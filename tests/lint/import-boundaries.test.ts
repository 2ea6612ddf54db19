import { spawnSync } from 'node:child_process';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const knownBad = 'tests/lint/known-bad';

const oxlint = (...args: readonly string[]) =>
  spawnSync(
    process.execPath,
    ['node_modules/oxlint/bin/oxlint', '--type-aware', '-f', 'json', ...args],
    { cwd: root, encoding: 'utf8' },
  );

type Report = {
  readonly diagnostics: {
    readonly code: string;
    readonly filename: string;
    readonly labels: { readonly span: { readonly line: number } }[];
  }[];
  readonly number_of_files: number;
};

/** Lints the known-bad folder with the configuration of the workspace. */
const lintKnownBad = (): Report => {
  const { stdout, stderr } = oxlint('-c', `${knownBad}/oxlint.json`, knownBad);
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Report;
};

/** Converts `eslint(no-restricted-imports)` of a report to `eslint/no-restricted-imports`, as in a configuration. */
const ruleOf = (code: string): string => code.replace('(', '/').replace(')', '');

/** Returns the expected violations of a file, each with the line below the comment that names its rules. */
const expectedIn = (file: string): string[] =>
  readFileSync(join(root, file), 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      const [, rules = ''] = /^ *\/\/ expected: (.+)$/.exec(line) ?? [];
      return rules.split(', ').flatMap((rule) => (rule === '' ? [] : [`${index + 2} ${rule}`]));
    });

describe('the lint configuration', () => {
  const files = globSync(`${knownBad}/packages/**/*.ts`, { cwd: root });
  const { diagnostics, number_of_files: linted } = lintKnownBad();

  it('is tested with files of every package, and all of them are linted', () => {
    expect(linted).toBe(files.length);
    const tested = new Set(files.map((file) => file.split('/')[4] ?? ''));
    expect([...tested].toSorted()).toEqual(readdirSync(join(root, 'packages')).toSorted());
  });

  it.each(files)('reports exactly the violations in %s', (file) => {
    const found = diagnostics
      .filter(({ filename }) => filename === file)
      .map(({ code, labels }) => `${labels[0]?.span.line} ${ruleOf(code)}`);
    expect(found.toSorted()).toEqual(expectedIn(file).toSorted());
    expect(found).not.toEqual([]);
  });

  it('excludes the known-bad files from the lint of the workspace', () => {
    const { stdout } = oxlint('--debug=files', '.');
    expect(stdout).toContain('import-boundaries.test.ts');
    expect(stdout).not.toContain('known-bad');
  });
});
