// Applies changes of the sources one after another in a copy of the repository: random ones, or all rows. Runs the tests that
// belong to them. Prints each change that no test notices, and the share of those that one notices. Changes that do not compile
// do not count.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findTests, root } from '@plantstore/test-support/related-tests';
import { copyRepository, type Duration, runTests, type TestRun } from './copy.ts';
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
/** Durations of the test files without a change; `undefined` for one that fails, which can notice nothing. */
const durations = new Map<string, Duration | undefined>();
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
if (values.rows && survivors.length > 0) process.exitCode = 1;

function allMutants(): readonly Mutant[] {
  return sources.flatMap(({ file, source }) =>
    mutationsOf(source).map((mutation) => ({ ...mutation, file, source })),
  );
}

function mutantOf([text, replacement]: (typeof rows)[number]): Mutant {
  const [found, ...others] = sources.filter(({ source }) => source.includes(text));
  if (found === undefined || others.length > 0 || found.source.split(text).length > 2)
    throw new Error(`does not occur exactly once: ${text}`);
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
    const usable = await measure(tests);
    if (usable.length === 0) continue;
    const { outcome, failed } = await changed(mutant, async () => run(usable));
    if (outcome === 'failed') return `noticed by ${failed[0] ?? 'the time limit'}`;
  }
  return 'NOT NOTICED';
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

/** The tests of the package that load the fewest files, the others that load it, the rest of the package with `tests`. */
function stagesOf(file: string): readonly (readonly string[])[] {
  const { own, others, all } = relatedTests(file);
  const rest = all.filter((test) => !own.includes(test));
  const outside = others.filter((test) => test.startsWith('tests/'));
  return [own.slice(0, 6), own.slice(6), [...rest, ...outside]];
}

/** Runs tests that have not run yet without a change. Returns those that pass. */
async function measure(tests: readonly string[]): Promise<readonly string[]> {
  const unknown = tests.filter((test) => !durations.has(test));
  if (unknown.length > 0) {
    const limits = { testMs: 300_000, runMs: 3_600_000, bail: false };
    const { failed, durations: measured } = await runTests(copy, unknown, limits);
    for (const test of unknown)
      durations.set(test, failed.includes(test) ? undefined : measured.get(test));
    const failing = unknown.filter((test) => durations.get(test) === undefined);
    if (failing.length > 0) console.log(`fail without a change: ${failing.join(' ')}`);
  }
  return tests.filter((test) => durations.get(test) !== undefined);
}

async function run(tests: readonly string[]): Promise<TestRun> {
  const each = tests.flatMap((test) => durations.get(test) ?? []);
  const testMs = 10_000 + 3 * Math.max(...each.map((duration) => duration.testMs));
  const sumMs = each.reduce((sum, { fileMs }) => sum + fileMs, 0);
  const limits = { testMs, runMs: 60_000 + 2 * sumMs, bail: true };
  return runTests(copy, tests, limits);
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
