import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { root } from './executed.ts';

/** The outcome of a run of test files; `not run` if none could be imported. */
export type Outcome = 'passed' | 'failed' | 'timed out' | 'not run';

/** The limits of a run, in milliseconds. */
export type Limits = { readonly testMs: number; readonly runMs: number };

/** A test, and how long it took, in milliseconds. */
export type Test = { readonly file: string; readonly name: string; readonly ms: number };

/** A result of a test file. */
type FileResult = {
  readonly name: string;
  readonly status: 'passed' | 'failed';
  readonly assertionResults: readonly {
    readonly ancestorTitles: readonly string[];
    readonly title: string;
    readonly status: string;
    readonly duration?: number;
  }[];
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

/** Returns the tests that passed or failed in the last run. */
export const testsIn = (copy: string, outcome: 'passed' | 'failed'): readonly Test[] =>
  resultsIn(copy).flatMap(({ name: file, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === outcome)
      .map(({ ancestorTitles, title, duration = 0 }) => ({
        file: relative(copy, file),
        name: [...ancestorTitles, title].join(' > '),
        ms: duration,
      })),
  );

/** Returns the options of Vitest that select tests; none if they do not fit in an argument. */
const selecting = (tests: readonly Pick<Test, 'name'>[]): readonly string[] => {
  const names = tests.map(({ name }) => name.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`));
  const pattern = `^(?:${[...new Set(names)].join('|')})$`;
  return Buffer.byteLength(pattern) < 2 ** 17 - 100 ? [`--testNamePattern=${pattern}`] : [];
};

/** Kills a process and those that it has started, if there are any. */
const killGroup = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // None is left.
  }
};

/** Runs all tests of a file, or the given tests, in a copy. With `record`, writes what they execute to that file. */
export const runTests = async (
  copy: string,
  tests: readonly Test[] | string,
  limits: Limits,
  record?: string,
): Promise<Outcome> => {
  rmSync(reportIn(copy), { force: true });
  const files = typeof tests === 'string' ? [tests] : [...new Set(tests.map(({ file }) => file))];
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
      // A hook may start a server.
      `--hookTimeout=${Math.ceil(limits.testMs + 20_000)}`,
      '--reporter=json',
      `--outputFile=${reportIn(copy)}`,
      ...[...projects].map((project) => `--project=${project}`),
      ...(typeof tests === 'string' ? [] : ['--bail=1', ...selecting(tests)]),
      ...files,
    ],
    {
      cwd: copy,
      stdio: 'ignore',
      detached: true,
      env: { ...process.env, ...(record !== undefined && { RECORD_TESTS: record }) },
    },
  );
  const kill = (): void => killGroup(child);
  process.once('exit', kill);
  const timer = setTimeout(kill, limits.runMs);
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  // A failed test can leave a server running.
  kill();
  process.off('exit', kill);
  if (status === 0) {
    if (testsIn(copy, 'passed').length > 0 || typeof tests === 'string') return 'passed';
    throw new Error('no test was selected by its name');
  }
  if (status === null) return 'timed out';
  const isImported = resultsIn(copy).some(({ assertionResults }) => assertionResults.length > 0);
  return isImported ? 'failed' : 'not run';
};
