// Applies one row after another in a copy of the repository, and runs the test file that must fail. An argument selects the
// rows whose promise or test file contains it. The exit status is 1 unless every change is noticed.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyRepository, runTests, type TestRun } from './copy.ts';
import { findRow } from './find-row.ts';
import { type Row, rows } from './rows.ts';

const selected = rows.filter((row) => `${row[0]} ${row[1]}`.includes(process.argv[2] ?? ''));
const copy = copyRepository();
/** How long the test files that pass without a change take, in milliseconds. */
const durations = new Map<string, number>();
const counts = { noticed: 0, 'NOT NOTICED': 0, 'CANNOT RUN': 0 };
for (const row of selected) {
  const began = performance.now();
  const { outcome, reason } = await runRow(row);
  counts[outcome] += 1;
  const seconds = Math.round((performance.now() - began) / 1_000);
  console.log(`${outcome} (${seconds} s): ${reason ?? row[0]}`);
}
console.log(`${counts.noticed} of ${selected.length} changes noticed`);
if (counts.noticed < selected.length || selected.length === 0) process.exitCode = 1;

type Outcome = { readonly outcome: keyof typeof counts; readonly reason?: string };

async function runRow(row: Row): Promise<Outcome> {
  const [promise, , text, replacement] = row;
  const found = findRow(row);
  if (found.isErr()) return { outcome: 'CANNOT RUN', reason: found.error };
  const { file, source, testFile } = found.value;
  // A test that fails without the change would notice every change.
  if (!durations.has(testFile)) {
    const began = performance.now();
    if ((await run(testFile, 600_000)) !== 'passed')
      return { outcome: 'CANNOT RUN', reason: `${promise}: ${testFile} fails without the change` };
    durations.set(testFile, performance.now() - began);
  }
  const changed = join(copy, file);
  writeFileSync(
    changed,
    source.replace(text, () => replacement),
  );
  try {
    const result = await run(testFile, 10_000 + 2 * (durations.get(testFile) ?? 0));
    if (result === 'failed') return { outcome: 'noticed' };
    return result === 'passed'
      ? { outcome: 'NOT NOTICED' }
      : { outcome: 'CANNOT RUN', reason: `${promise}: no test of ${testFile} runs` };
  } finally {
    writeFileSync(changed, source);
  }
}

async function run(testFile: string, testMs: number): Promise<TestRun['outcome']> {
  const limits = { testMs, runMs: 2 * testMs, bail: true };
  return (await runTests(copy, [testFile], limits)).outcome;
}
