import { expect, it } from 'vitest';
import { changesOf } from './changes.ts';
import { findTestFiles } from './test-files.ts';

const apply = (source: string): readonly string[] =>
  changesOf('any.ts', source).map(
    ({ start, end, replacement }) => source.slice(0, start) + replacement + source.slice(end),
  );

it.each([
  ['a statement', 'a(); const b = c();', ['; const b = c();']],
  [
    'a guard',
    'for (;;) { if (a) continue; b(); }',
    ['for (;;) { ; b(); }', 'for (;;) { if (a) continue; ; }'],
  ],
  ['a guard with a block', 'const f = () => { if (a) { return b; } };', ['const f = () => { ; };']],
  [
    'a condition',
    'if (a) b(); else c = d ? 1 : 2;',
    [
      'if (!(a)) b(); else c = d ? 1 : 2;',
      'if (a) ; else c = d ? 1 : 2;',
      'if (a) b(); else ;',
      'if (a) b(); else c = !(d) ? 1 : 2;',
    ],
  ],
  ['an await', 'await a();', [';', 'void a();']],
  ['no value of a function', 'const f = () => { return a; };', []],
  ['no directive', "'use strict';", []],
])('the changes of a source file change %s', (_, source, changed) => {
  expect(apply(source)).toEqual(changed);
});

it('the test files of a source file are those that import it, then those of its package', () => {
  const [nearest, ...others] = findTestFiles()('packages/server/src/program/log.ts');
  expect(nearest).toContain('packages/server/src/program/log.test.ts');
  expect(others.flat()).toContain('tests/black-box/crash.test.ts');
  expect(others.at(-1)).toContain('packages/server/src/http/cors.test.ts');
});
