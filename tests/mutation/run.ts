// Applies one change of the code after another in copies of the repository, and runs the tests that must notice it.
// `--rows` applies the changes by hand. Without it, the changes are made from the syntax tree: of what differs from
// a commit (`--since`; by default the one where the branch left main, or on main the one before), or of a part of everything (`--slice 3/12`).
// `--only TEXT` selects those whose name or file contains a text. `--runs 2` runs the nearest test files only: those of 4 and
// then 16 seconds.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { defaultCommit } from './changed-lines.ts';
import { copyRepository, type Duration, durationsIn, failedIn, runTests } from './copy.ts';
import { type Mutant, mutantsOfRows, mutantsOfSlice, mutantsSince } from './mutants.ts';
import type { Group } from './test-files.ts';

type Outcome = 'killed' | 'survived' | 'not run';
type Durations = ReadonlyMap<string, Duration>;

const { values } = parseArgs({
  options: {
    rows: { type: 'boolean', default: false },
    since: { type: 'string' },
    slice: { type: 'string' },
    only: { type: 'string', default: '' },
    runs: { type: 'string', default: 'Infinity' },
  },
});

const selectMutants = (): readonly Mutant[] => {
  if (values.rows) return mutantsOfRows();
  if (values.slice !== undefined) return mutantsOfSlice(values.slice);
  return mutantsSince(values.since ?? defaultCommit());
};

/** Splits test files into runs of at most 4, 16, 64 seconds and so on: the nearest first, and of those the fastest. */
const runsOf = (groups: readonly Group[], durations: Durations): readonly (readonly string[])[] => {
  const msOf = (file: string): number => durations.get(file)?.file ?? 0;
  const files = new Set(
    groups.flatMap((group) =>
      group.filter((file) => durations.has(file)).toSorted((one, other) => msOf(one) - msOf(other)),
    ),
  );
  const runs: string[][] = [];
  let left = 0;
  for (const file of files) {
    if (msOf(file) > left) {
      left = 4_000 * 4 ** runs.length;
      runs.push([]);
    }
    left -= msOf(file);
    runs.at(-1)?.push(file);
  }
  return runs;
};

/** The test files that noticed a change of a file, the last first: they are likely to notice the next one, too. */
const noticedBy = new Map<string, readonly string[]>();

const runMutant = async (
  copy: string,
  { file, text, start, replacement, tests }: Mutant,
  durations: Durations,
): Promise<Outcome> => {
  const groups = [noticedBy.get(file)?.slice(0, 3) ?? [], ...tests];
  const runs = runsOf(groups, durations).slice(0, Number(values.runs));
  if (start === -1 || runs.length === 0) return 'not run';
  const source = readFileSync(join(copy, file), 'utf8');
  const after = source.slice(start + text.length);
  writeFileSync(join(copy, file), source.slice(0, start) + replacement + after);
  try {
    for (const files of runs) {
      const used = files.flatMap((one) => durations.get(one) ?? []);
      // Far more than the tests take without the change, and less than a test that waits for ever would.
      const outcome = await runTests(copy, files, ['--bail=1'], {
        testMs: 10_000 + 5 * Math.max(...used.map(({ slowestTest }) => slowestTest)),
        runMs: 60_000 + 10 * used.reduce((sum, one) => sum + one.file, 0),
      });
      // A row that no test file can import may be a mistake in the row.
      if (outcome === 'not run' && values.rows) return 'not run';
      if (outcome === 'passed') continue;
      noticedBy.set(file, [...new Set([...failedIn(copy), ...(noticedBy.get(file) ?? [])])]);
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

const runRest = async (copy: string, durations: Durations): Promise<void> => {
  for (const mutant of rest) {
    const began = performance.now();
    const outcome = await runMutant(copy, mutant, durations);
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
while (queue.length > 0 && copies.length < availableParallelism()) copies.push(copyRepository());
const [first] = copies;
if (first !== undefined) {
  const files = [...new Set(queue.flatMap(({ tests }) => tests).flat())];
  await runTests(first, files, [], { testMs: 600_000, runMs: 3_600_000 });
  const durations = durationsIn(first);
  // A test that fails without a change would notice every change.
  const failed = files.filter((file) => !durations.has(file));
  if (failed.length > 0) console.log(`fail without a change: ${failed.join(', ')}`);
  await Promise.all(copies.map(async (copy) => runRest(copy, durations)));
  const share = counts.killed / queue.length;
  console.log(`${counts.killed} of ${queue.length} changes noticed: ${(100 * share).toFixed(1)} %`);
  // A change can make no difference, so a slice has a limit, as Stryker has.
  if (share < (values.slice === undefined ? 1 : 0.9) || failed.length > 0) process.exitCode = 1;
}
