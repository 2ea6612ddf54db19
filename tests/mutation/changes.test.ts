import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { changesOf } from './changes.ts';
import { readExecuted, recordExecution } from './executed.ts';

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

it('a source file records which of its nested places are executed', async () => {
  const source = 'let a = 0; if (a === 0) a = a === 1 ? 1 : 2; else { await 0; }; export { a };';
  const places = changesOf('any.ts', source).map((change, id) => ({ ...change, id }));
  const folder = await mkdtemp(join(tmpdir(), 'executed-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const record = join(folder, 'record');
  const recorded = recordExecution(source, places, record);
  const { a } = (await import(`data:text/javascript,${encodeURIComponent(recorded)}`)) as {
    a: number;
  };
  expect(a).toBe(2);
  const executed = readExecuted(await readFile(record, 'utf8'));
  const textOf = ({ start, end }: { readonly start: number; readonly end: number }) =>
    source.slice(start, end);
  expect(places.filter(({ id }) => executed.has(id)).map(textOf)).toEqual([
    'a === 0',
    'a = a === 1 ? 1 : 2;',
    'a === 1',
  ]);
});
