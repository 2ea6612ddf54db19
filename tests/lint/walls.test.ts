import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
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

type Report = { diagnostics: { code: string; filename: string }[]; number_of_files: number };

/** Runs the real configuration as if the known-bad tree were the workspace. */
const lintKnownBad = (): Report => {
  const { stdout, stderr } = oxlint('-c', `${knownBad}/oxlint.json`, knownBad);
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Report;
};

/** `eslint(no-restricted-imports)` is written `eslint/no-restricted-imports` in a configuration. */
const ruleOf = (code: string): string => code.replace('(', '/').replace(')', '');

const expectedIn = (file: string): string => {
  const [, expected] = /^\/\/ expected: (\S+)\n/.exec(readFileSync(join(root, file), 'utf8')) ?? [];
  return expected ?? 'a first line that says what is expected';
};

describe('the walls between packages', () => {
  const files = globSync(`${knownBad}/packages/**/*.ts`, { cwd: root });
  const { diagnostics, number_of_files: linted } = lintKnownBad();
  const rulesIn = (file: string): string[] => [
    ...new Set(diagnostics.filter((one) => one.filename === file).map((one) => ruleOf(one.code))),
  ];

  it('has known-bad files, and the linter reads them all', () => {
    expect(files.length).toBeGreaterThan(20);
    expect(linted).toBe(files.length);
  });

  it.each(files)('finds in %s exactly what its first line says', (file) => {
    const expected = expectedIn(file);
    expect(rulesIn(file)).toEqual(expected === 'nothing' ? [] : [expected]);
  });

  it.each(['core', 'sqlite', 'postgres', 'server', 'client'])('stands around %s', (name) => {
    const own = files.filter((file) => file.startsWith(`${knownBad}/packages/${name}/`));
    expect(own.map(expectedIn)).toContain('eslint/no-restricted-imports');
    expect(own.map((file) => basename(file))).toContain('good.ts');
  });

  it('is not looked for in the known-bad files by the ordinary lint', () => {
    const { stdout } = oxlint('--debug=files', '.');
    expect(stdout).toContain('walls.test.ts');
    expect(stdout).not.toContain('known-bad');
  });
});
