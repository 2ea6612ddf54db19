// Applies one row after another in a copy of the repository, and runs the test file that must fail. An argument selects the
// rows whose promise or test file contains it. The exit status is 1 unless every change is noticed.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRow, root } from './find-row.ts';
import { type Row, rows } from './rows.ts';

const copy = mkdtempSync(join(tmpdir(), 'mutation-'));
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const selected = rows.filter((row) => `${row[0]} ${row[1]}`.includes(process.argv[2] ?? ''));
copyRepository();
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
    if ((await runTests(testFile, 600_000)) !== 'passed')
      return { outcome: 'CANNOT RUN', reason: `${promise}: ${testFile} fails without the change` };
    durations.set(testFile, performance.now() - began);
  }
  const changed = join(copy, file);
  writeFileSync(
    changed,
    source.replace(text, () => replacement),
  );
  try {
    const result = await runTests(testFile, 10_000 + 2 * (durations.get(testFile) ?? 0));
    if (result === 'failed') return { outcome: 'noticed' };
    return result === 'passed'
      ? { outcome: 'NOT NOTICED' }
      : { outcome: 'CANNOT RUN', reason: `${promise}: no test of ${testFile} runs` };
  } finally {
    writeFileSync(changed, source);
  }
}

/** Runs a test file in the copy. A test that hangs fails after the time limit. */
async function runTests(testFile: string, limitMs: number): Promise<'passed' | 'failed' | 'none'> {
  const report = join(copy, 'node_modules/mutation.json');
  rmSync(report, { force: true });
  const child = spawn(
    join(copy, 'node_modules/.bin/vitest'),
    [
      'run',
      '--bail=1',
      `--testTimeout=${limitMs}`,
      `--hookTimeout=${limitMs}`,
      '--reporter=json',
      `--outputFile=${report}`,
      testFile,
    ],
    // A test that fails can leave processes behind, which are ended with their group.
    { cwd: copy, stdio: 'ignore', detached: true },
  );
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All have exited.
    }
  };
  process.once('exit', end);
  const timer = setTimeout(end, 2 * limitMs);
  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  end();
  process.off('exit', end);
  // A loop without an end is killed before it has reported.
  if (!existsSync(report)) return child.signalCode === 'SIGKILL' ? 'failed' : 'none';
  const { numTotalTests, numPassedTests } = JSON.parse(readFileSync(report, 'utf8')) as {
    readonly numTotalTests: number;
    readonly numPassedTests: number;
  };
  if (child.exitCode === 0) return numPassedTests > 0 ? 'passed' : 'none';
  return numTotalTests > 0 ? 'failed' : 'none';
}

/** Copies the repository with its uncommitted changes. */
function copyRepository(): void {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  for (const file of execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\0'))
    if (file !== '' && existsSync(join(root, file))) cpSync(join(root, file), join(copy, file));
  execFileSync('npx', ['-y', 'pnpm@12', 'install', '--frozen-lockfile'], {
    cwd: copy,
    stdio: 'ignore',
  });
}
