// `pnpm test:promises` breaks each promise in a copy of the repository, and runs the tests that must fail.
// `--area sqlite` runs one area, and `--only TEXT` the mutations whose promise or file contains a text.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { type Mutation, mutate } from './mutation.ts';
import { promises } from './promises.ts';

const root = join(import.meta.dirname, '../..');

/** Time limit of a test file, in milliseconds. A mutation can make it wait for ever. */
const fileLimitMs = 300_000;

/** Time limit of a test without a mutation, in milliseconds. */
const testLimitMs = 600_000;

type Outcome = 'passed' | 'failed' | 'timed out' | 'not run';

const copyRepository = (): string => {
  const copy = mkdtempSync(join(tmpdir(), 'promises-'));
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  for (const file of execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\0')) {
    if (file !== '' && existsSync(join(root, file))) cpSync(join(root, file), join(copy, file));
  }
  execFileSync('npx', ['-y', 'pnpm@12', 'install', '--frozen-lockfile'], {
    cwd: copy,
    stdio: 'ignore',
  });
  return copy;
};

type Report = {
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly duration?: number;
      readonly failureMessages: readonly string[];
    }[];
  }[];
};

const reportOf = (copy: string): string => join(copy, 'node_modules/promises.json');

const readReport = (copy: string): Report =>
  JSON.parse(readFileSync(reportOf(copy), 'utf8')) as Report;

/** The names and errors of the tests that failed in the last run. */
const failedIn = (copy: string): readonly string[] =>
  existsSync(reportOf(copy))
    ? readReport(copy)
        .testResults.flatMap(({ assertionResults }) => assertionResults)
        .flatMap(({ fullName, failureMessages }) =>
          failureMessages.map((message) => `${fullName}: ${message}`),
        )
    : [];

/** Returns the duration of the slowest test of each file in the last run, in milliseconds. */
const slowestIn = (copy: string): ReadonlyMap<string, number> =>
  new Map(
    readReport(copy).testResults.map(({ name, assertionResults }) => [
      relative(copy, name),
      Math.max(0, ...assertionResults.map(({ duration = 0 }) => duration)),
    ]),
  );

/** Kills a process and those that it has started, if there are any. */
const killGroup = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // None is left.
  }
};

/** Runs test files. A file that cannot be imported proves nothing: its tests are `not run`. */
const runTests = async (
  copy: string,
  files: readonly string[],
  limitMs: number,
): Promise<Outcome> => {
  const report = reportOf(copy);
  rmSync(report, { force: true });
  const vitest = 'node_modules/vitest/vitest.mjs';
  const flags = [
    'run',
    '--bail=1',
    `--testTimeout=${Math.ceil(limitMs)}`,
    '--reporter=json',
    `--outputFile=${report}`,
  ];
  const child = spawn(join(copy, 'node_modules/.bin/node'), [vitest, ...flags, ...files], {
    cwd: copy,
    stdio: 'ignore',
    // A sample could miss the states that a mutation breaks.
    env: { ...process.env, ALL_TESTS: '1' },
    detached: true,
  });
  const timer = setTimeout(() => killGroup(child), files.length * fileLimitMs);
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  // A test that fails can leave a server.
  killGroup(child);
  if (status === 0) return 'passed';
  if (status === null) return 'timed out';
  if (!existsSync(report)) return 'not run';
  const { numFailedTests, testResults } = readReport(copy);
  const isImported = testResults.some(({ assertionResults }) => assertionResults.length > 0);
  return numFailedTests > 0 || isImported ? 'failed' : 'not run';
};

const runMutation = async (copy: string, mutation: Mutation, limitMs: number): Promise<Outcome> => {
  const file = join(copy, mutation.file);
  const source = readFileSync(file, 'utf8');
  writeFileSync(file, mutate(source, mutation));
  try {
    return await runTests(copy, [mutation.test], limitMs);
  } finally {
    writeFileSync(file, source);
  }
};

const { values } = parseArgs({
  options: { area: { type: 'string' }, only: { type: 'string', default: '' } },
});
const areas = Object.entries(promises).filter(([area]) => [area, undefined].includes(values.area));
const queue = areas
  .flatMap(([, mutations]) => mutations)
  .filter(({ promise, file }) => `${promise} ${file}`.includes(values.only));
if (queue.length === 0) throw new Error(`choose an area of ${Object.keys(promises).join(', ')}`);

const copies = Array.from({ length: availableParallelism() }, copyRepository);
const [first = ''] = copies;
let survived = 0;

const runQueue = async (copy: string, slowest: ReadonlyMap<string, number>): Promise<void> => {
  for (let mutation = queue.shift(); mutation !== undefined; mutation = queue.shift()) {
    const began = performance.now();
    // Far more than a test takes without the mutation, and less than a test that waits for ever would.
    const limitMs = 10_000 + 5 * (slowest.get(mutation.test) ?? 0);
    const outcome = await runMutation(copy, mutation, limitMs);
    const isKilled = outcome === 'failed' || outcome === 'timed out';
    if (!isKilled) survived += 1;
    const seconds = Math.round((performance.now() - began) / 1_000);
    const verdict = isKilled ? 'killed' : outcome === 'passed' ? 'SURVIVED' : 'NOT RUN';
    console.log(`${verdict} (${seconds} s) ${mutation.promise}: ${mutation.file}`);
    if (!isKilled) console.log(`  ${mutation.text}\n  -> ${mutation.replacement}`);
  }
};

try {
  const count = queue.length;
  // A test that fails without a mutation would kill every mutant.
  const tests = [...new Set(queue.map(({ test }) => test))];
  const outcome = await runTests(first, tests, testLimitMs);
  if (outcome !== 'passed')
    throw new Error(`without a mutation, the tests ${outcome}: ${failedIn(first).join('\n')}`);
  const slowest = slowestIn(first);
  await Promise.all(copies.map(async (copy) => runQueue(copy, slowest)));
  console.log(`${count - survived} of ${count} mutations killed`);
  if (survived > 0) process.exitCode = 1;
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
}
