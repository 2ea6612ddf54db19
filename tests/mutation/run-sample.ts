// Applies changes of the sources one after another in a copy of the repository: random ones, or all
// rows. Runs the tests that belong to them. Prints each change that no test notices, and the share
// of those that one notices. Changes that do not compile do not count.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findTests, root } from '@plantstore/test-support/related-tests';
import { copyRepository, runTests } from './copy.ts';
import { type Mutation, mutationsOf } from './mutations.ts';
import { rows } from './rows.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    count: { type: 'string', default: '40' },
    package: { type: 'string', default: '*' },
    rows: { type: 'boolean', default: false },
  },
});

type Mutant = Mutation & { readonly file: string; readonly source: string };

const sources = globSync(`packages/${values.package}/src/**/*.ts`, {
  cwd: root,
  exclude: ['**/*.test.ts', '**/*.test-d.ts'],
})
  .toSorted()
  .map((file) => ({ file, source: readFileSync(join(root, file), 'utf8') }));
const mutants = values.rows ? rows.map(mutantOf) : shuffle(allMutants(), Number(values.seed));

const relatedTests = findTests();
const copy = copyRepository();
/** Whether test files that have failed with a change pass without one. */
const passing = new Map<string, boolean>();
const survivors: string[] = [];
let noticed = 0;

console.log(values.rows ? 'rows' : `seed ${values.seed}`);
for (const mutant of mutants) {
  if (noticed + survivors.length === Number(values.count) && !values.rows) break;
  const began = performance.now();
  const outcome = await apply(mutant);
  if (outcome === 'does not compile') continue;
  const seconds = Math.round((performance.now() - began) / 1_000);
  const line = `${outcome} (${seconds} s): ${describe(mutant)}`;
  if (outcome === 'NOT NOTICED') survivors.push(line);
  else noticed += 1;
  console.log(`${noticed + survivors.length} ${line}`);
}
const total = noticed + survivors.length;
console.log(['', ...survivors].join('\n'));
console.log(`${noticed} of ${total} changes noticed (${Math.round((100 * noticed) / total)} %)`);
// A small sample has more survivors than all changes would have, or fewer.
if (survivors.length > (values.rows ? 0 : total / 5)) process.exitCode = 1;

function allMutants(): readonly Mutant[] {
  return sources.flatMap(({ file, source }) =>
    mutationsOf(source).map((mutation) => ({ ...mutation, file, source })),
  );
}

function mutantOf([text, replacement]: (typeof rows)[number]): Mutant {
  const found = sources.find(({ source }) => source.includes(text));
  if (found === undefined) throw new Error(`does not occur: ${text}`);
  const start = found.source.indexOf(text);
  return { ...found, kind: 'replaced', start, end: start + text.length, replacement };
}

function describe({ kind, file, source, start, end, replacement }: Mutant): string {
  const line = source.slice(0, start).split('\n').length;
  const around = kind === 'turned' ? 30 : 0;
  const text = source.slice(start - around, end + around);
  return `${file}:${line} ${kind}: ${text.replaceAll(/\s+/g, ' ')} → ${replacement.trim()}`;
}

async function apply(mutant: Mutant): Promise<string> {
  if (!changed(mutant, compiles)) return 'does not compile';
  for (const tests of stagesOf(mutant.file)) {
    const test = await firstToFail(mutant, tests);
    if (test !== undefined) return `noticed by ${test}`;
  }
  return 'NOT NOTICED';
}

/** Returns the first test that fails, but for those that also fail without the change. */
async function firstToFail(mutant: Mutant, tests: readonly string[]): Promise<string | undefined> {
  const usable = tests.filter((test) => passing.get(test) !== false);
  if (usable.length === 0) return undefined;
  const { hasFailed, failed } = await changed(mutant, async () => runTests(copy, usable));
  if (!hasFailed) return undefined;
  const [test] = failed;
  // No test is reported of a run that was ended.
  if (test === undefined)
    return (await runTests(copy, usable)).hasFailed ? undefined : 'the time limit';
  if (!passing.has(test)) passing.set(test, !(await runTests(copy, [test])).hasFailed);
  return passing.get(test) === true ? test : firstToFail(mutant, usable);
}

/** Calls a function while the change is applied in the copy. */
function changed<T>({ file, source, start, end, replacement }: Mutant, call: () => T): T {
  const write = (text: string) => writeFileSync(join(copy, file), text);
  write(source.slice(0, start) + replacement + source.slice(end));
  const result = call();
  if (result instanceof Promise) return result.finally(() => write(source)) as T;
  write(source);
  return result;
}

function compiles(): boolean {
  const { status } = spawnSync(join(copy, 'node_modules/.bin/tsc'), { cwd: copy });
  return status === 0;
}

/** The tests of the package that load the fewest files, its others that load it, and the rest. */
function stagesOf(file: string): readonly (readonly string[])[] {
  const { own, others, all } = relatedTests(file);
  const rest = all.filter((test) => !own.includes(test));
  const outside = others.filter((test) => test.startsWith('tests/'));
  return [own.slice(0, 6), own.slice(6), [...rest, ...outside]];
}

/** Returns the elements in an order that the seed alone decides (mulberry32). */
function shuffle<T>(elements: readonly T[], seed: number): readonly T[] {
  let state = seed;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return elements
    .map((element) => ({ element, key: random() }))
    .toSorted((one, other) => one.key - other.key)
    .map(({ element }) => element);
}
