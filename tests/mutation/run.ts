// Applies one change of the code after another in copies of the repository, and runs the tests that must notice it.
// `--rows` applies the changes in `rows`. `--slice 3/16` makes changes in a part of the stores, `node/` and `program/`.
// Otherwise, it makes changes in the lines that differ from a commit (`--since`; by default the one where the branch left
// `origin/main`, or the one before the last). `--only TEXT` selects those whose name or file contains a text.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { defaultCommit } from './changed-lines.ts';
import { copyRepository, runTests, type Test, testsIn } from './copy.ts';
import { readExecuted, recordExecution, testFilesFor } from './executed.ts';
import { type Mutant, mutantsOfRows, mutantsOfSlice, mutantsSince } from './mutants.ts';

type Outcome = 'killed' | 'survived' | 'not run';

/** What the tests did without a change. */
type Measured = {
  /** The tests that execute the changed code. */
  readonly testsOf: ReadonlyMap<Mutant, readonly Test[]>;
  readonly failed: readonly string[];
};

const { values } = parseArgs({
  options: {
    rows: { type: 'boolean', default: false },
    since: { type: 'string' },
    slice: { type: 'string' },
    only: { type: 'string', default: '' },
  },
});

const selectMutants = (): readonly Mutant[] => {
  if (values.rows) return mutantsOfRows();
  if (values.slice !== undefined) return mutantsOfSlice(values.slice);
  return mutantsSince(values.since ?? defaultCommit());
};

const keyOf = ({ file, name }: Test): string => `${file} ${name}`;

/** Splits tests into runs of about 4, 16, 64 seconds and so on: first those in `first`, then the fastest. */
const runsOf = (first: readonly string[], tests: readonly Test[]): readonly (readonly Test[])[] => {
  const ranks = new Map(first.map((key, rank) => [key, rank]));
  const rankOf = (test: Test): number => ranks.get(keyOf(test)) ?? first.length;
  const sorted = tests.toSorted((one, other) => rankOf(one) - rankOf(other) || one.ms - other.ms);
  const runs: Test[][] = [];
  let left = 0;
  for (const test of sorted) {
    const isFirst = runs.at(-1)?.some(({ file }) => file === test.file) !== true;
    // A file takes time to be imported.
    const ms = test.ms + (isFirst ? 200 : 0);
    if (ms > left) {
      left = 4_000 * 4 ** runs.length;
      runs.push([]);
    }
    left -= ms;
    runs.at(-1)?.push(test);
  }
  return runs;
};

/** The tests that noticed a change of a file, the last first: they are likely to notice the next one, too. */
const noticedBy = new Map<string, readonly string[]>();

const runMutant = async (copy: string, mutant: Mutant, { testsOf }: Measured): Promise<Outcome> => {
  const { file, text, start, replacement } = mutant;
  const runs = runsOf(noticedBy.get(file) ?? [], testsOf.get(mutant) ?? []);
  // The only test file of a row may fail without the change.
  if (start === -1 || (values.rows && runs.length === 0)) return 'not run';
  const source = readFileSync(join(copy, file), 'utf8');
  const after = source.slice(start + text.length);
  writeFileSync(join(copy, file), source.slice(0, start) + replacement + after);
  try {
    for (const tests of runs) {
      const used = tests.map(({ ms }) => ms);
      // Several times what the tests take without the change, so that only a test that hangs exceeds it.
      const outcome = await runTests(copy, tests, {
        testMs: 5_000 + 4 * Math.max(...used),
        runMs: 20_000 + 5 * used.reduce((sum, ms) => sum + ms, 0),
      });
      // A row whose test file cannot be imported may be a mistake.
      if (outcome === 'not run' && values.rows) return 'not run';
      if (outcome === 'passed') continue;
      noticedBy.set(file, [
        ...new Set([...testsIn(copy, 'failed').map(keyOf), ...(noticedBy.get(file) ?? [])]),
      ]);
      return 'killed';
    }
    return 'survived';
  } finally {
    writeFileSync(join(copy, file), source);
  }
};

const queue = selectMutants().filter(({ name, file }) => `${name} ${file}`.includes(values.only));
const counts = { killed: 0, survived: 0, 'not run': 0 };
const rest = queue.values();

/** Runs each test file by itself in one of the copies, in which the code to change records which test executes it. */
const measure = async (copies: readonly string[]): Promise<Measured> => {
  const places = Map.groupBy(
    queue.map((mutant, id) => ({ ...mutant, id })),
    ({ file }) => file,
  );
  const files = queue.flatMap(({ test, file }) => test ?? testFilesFor(file));
  const unmeasured = new Set(files).values();
  const testsOf = new Map(queue.map((mutant) => [mutant, [] as Test[]]));
  const failed: string[] = [];
  const measureRest = async (copy: string): Promise<void> => {
    const record = join(copy, 'node_modules/executed');
    const sources = [...places].map(([file, mutants]) => {
      const source = readFileSync(join(copy, file), 'utf8');
      const generated = mutants.flatMap(({ id, kind, start, text }) =>
        kind === 'row' ? [] : [{ id, kind, start, end: start + text.length }],
      );
      writeFileSync(join(copy, file), recordExecution(source, generated, record));
      return { file, source };
    });
    for (const file of unmeasured) {
      writeFileSync(record, '');
      const limits = { testMs: 600_000, runMs: 600_000 };
      // A test that fails without a change would notice every change.
      if ((await runTests(copy, file, limits, record)) !== 'passed') failed.push(file);
      else {
        const executed = readExecuted(readFileSync(record, 'utf8'));
        const tests = testsIn(copy, 'passed');
        for (const [id, mutant] of queue.entries()) {
          const names = mutant.test === file ? new Set(['']) : (executed.get(id) ?? new Set());
          testsOf
            .get(mutant)
            ?.push(...tests.filter(({ name }) => names.has('') || names.has(name)));
        }
      }
    }
    for (const { file, source } of sources) writeFileSync(join(copy, file), source);
  };
  await Promise.all(copies.map(measureRest));
  return { testsOf, failed };
};

const runRest = async (copy: string, measured: Measured): Promise<void> => {
  for (const mutant of rest) {
    const began = performance.now();
    const outcome = await runMutant(copy, mutant, measured);
    counts[outcome] += 1;
    const seconds = Math.round((performance.now() - began) / 1_000);
    console.log(`${outcome} (${seconds} s): ${mutant.file}: ${mutant.name}`);
    if (outcome !== 'killed') console.log(`  ${mutant.text}\n  -> ${mutant.replacement}`);
  }
};

const copies: string[] = [];
process.once('exit', () => {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

console.log(`${queue.length} changes`);
// Tests wait for I/O and for timeouts.
while (queue.length > 0 && copies.length < 2 * availableParallelism())
  copies.push(copyRepository());
if (queue.length > 0) {
  const measured = await measure(copies);
  const { failed } = measured;
  if (failed.length > 0) console.log(`fail without a change: ${failed.join(', ')}`);
  await Promise.all(copies.map(async (copy) => runRest(copy, measured)));
  const share = counts.killed / queue.length;
  console.log(`${counts.killed} of ${queue.length} changes noticed: ${(100 * share).toFixed(1)} %`);
  // A change can make no difference, so 90 % of a slice is enough, as for Stryker.
  if (share < (values.slice === undefined ? 1 : 0.9) || failed.length > 0) process.exitCode = 1;
}
