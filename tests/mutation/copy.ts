import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { root } from './executed.ts';

/** What happened to test files. Those of which none could be imported are `not run`. */
export type Outcome = 'passed' | 'failed' | 'timed out' | 'not run';

/** The limits of a run, in milliseconds. */
export type Limits = { readonly testMs: number; readonly runMs: number };

/** What a run needed for a test file, in milliseconds. */
export type Duration = { readonly file: number; readonly slowestTest: number };

/** A result of a test file. */
type FileResult = {
  readonly name: string;
  readonly status: 'passed' | 'failed';
  readonly startTime: number;
  readonly endTime: number;
  readonly assertionResults: readonly { readonly duration?: number }[];
};

/** Copies the repository with its uncommitted changes, and returns the folder. */
export const copyRepository = (): string => {
  const copy = mkdtempSync(join(tmpdir(), 'mutation-'));
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

const reportIn = (copy: string): string => join(copy, 'node_modules/mutation.json');

/** The results of the last run. */
const resultsIn = (copy: string): readonly FileResult[] =>
  existsSync(reportIn(copy))
    ? (JSON.parse(readFileSync(reportIn(copy), 'utf8')) as { testResults: FileResult[] })
        .testResults
    : [];

/** Returns the test files that failed in the last run. */
export const failedIn = (copy: string): readonly string[] =>
  resultsIn(copy)
    .filter(({ status }) => status === 'failed')
    .map(({ name }) => relative(copy, name));

/** Returns the durations of the test files that passed in the last run. */
export const durationsIn = (copy: string): ReadonlyMap<string, Duration> =>
  new Map(
    resultsIn(copy)
      .filter(({ status }) => status === 'passed')
      .map(({ name, startTime, endTime, assertionResults }) => [
        relative(copy, name),
        {
          file: endTime - startTime,
          slowestTest: Math.max(0, ...assertionResults.map(({ duration = 0 }) => duration)),
        },
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

/** Runs test files in a copy. */
export const runTests = async (
  copy: string,
  files: readonly string[],
  flags: readonly string[],
  limits: Limits,
): Promise<Outcome> => {
  rmSync(reportIn(copy), { force: true });
  // Only some projects need a build.
  const projects = new Set(files.map((file) => /^(?:packages\/\w+|tests)/.exec(file)?.[0] ?? '*'));
  const child = spawn(
    join(copy, 'node_modules/.bin/node'),
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      // With one worker, nothing else is started before the first test fails.
      '--maxWorkers=1',
      `--testTimeout=${Math.ceil(limits.testMs)}`,
      `--hookTimeout=${Math.ceil(limits.testMs)}`,
      '--reporter=json',
      `--outputFile=${reportIn(copy)}`,
      ...[...projects].map((project) => `--project=${project}`),
      ...flags,
      ...files,
    ],
    {
      cwd: copy,
      stdio: 'ignore',
      detached: true,
    },
  );
  const kill = (): void => killGroup(child);
  process.once('exit', kill);
  const timer = setTimeout(kill, limits.runMs);
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  // A test that fails can leave a server.
  kill();
  process.off('exit', kill);
  if (status === 0) return 'passed';
  if (status === null) return 'timed out';
  const isImported = resultsIn(copy).some(({ assertionResults }) => assertionResults.length > 0);
  return isImported ? 'failed' : 'not run';
};
