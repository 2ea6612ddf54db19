import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argumentsFor, root } from '@plantstore/test-support/related-tests';

/** Copies the repository with its uncommitted changes into a folder that the exit of the process removes. Returns the folder. */
export function copyRepository(): string {
  const copy = mkdtempSync(join(tmpdir(), 'mutation-'));
  process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  for (const file of execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\0'))
    if (file !== '' && existsSync(join(root, file))) cpSync(join(root, file), join(copy, file));
  execFileSync('npx', ['-y', 'pnpm@12', 'install', '--frozen-lockfile'], {
    cwd: copy,
    stdio: 'ignore',
  });
  return copy;
}

/** The result of test files. */
export type TestRun = {
  /** `none` if no test has run. */
  readonly outcome: 'passed' | 'failed' | 'none';
  /** The files of which a test has failed. */
  readonly failed: readonly string[];
  readonly durations: ReadonlyMap<string, Duration>;
};

/** Milliseconds of a test file, and of its longest test. */
export type Duration = { readonly fileMs: number; readonly testMs: number };

/** Time limits of a run, in milliseconds. */
export type Limits = { readonly testMs: number; readonly runMs: number; readonly bail: boolean };

/** Runs test files in a copy, in a process group of its own, which a run without an end fails with. */
export async function runTests(
  copy: string,
  files: readonly string[],
  { testMs, runMs, bail }: Limits,
): Promise<TestRun> {
  const report = join(copy, 'node_modules/mutation.json');
  rmSync(report, { force: true });
  const limits = [`--testTimeout=${testMs}`, `--hookTimeout=${testMs}`, `--bail=${Number(bail)}`];
  const child = spawn(
    join(copy, 'node_modules/.bin/vitest'),
    ['run', ...limits, '--reporter=json', `--outputFile=${report}`, ...argumentsFor(files)],
    { cwd: copy, stdio: 'ignore', detached: true },
  );
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All have exited.
    }
  };
  // Before the copy is removed.
  process.prependOnceListener('exit', end);
  const timer = setTimeout(end, runMs);
  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  // A test that fails can leave processes behind.
  end();
  process.off('exit', end);
  return readReport(copy, report, child.signalCode === 'SIGKILL');
}

function readReport(copy: string, report: string, isCutOff: boolean): TestRun {
  // A loop without an end is killed before it has reported.
  if (!existsSync(report))
    return { outcome: isCutOff ? 'failed' : 'none', failed: [], durations: new Map() };
  const { success, numPassedTests, testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    readonly success: boolean;
    readonly numPassedTests: number;
    readonly testResults: readonly {
      readonly name: string;
      readonly status: string;
      readonly startTime: number;
      readonly endTime: number;
      readonly assertionResults: readonly { readonly duration?: number | null }[];
    }[];
  };
  const files = testResults.map((file) => ({ ...file, path: file.name.slice(copy.length + 1) }));
  return {
    outcome: !success ? 'failed' : numPassedTests > 0 ? 'passed' : 'none',
    failed: files.filter(({ status }) => status === 'failed').map(({ path }) => path),
    durations: new Map(
      files.map(({ path, startTime, endTime, assertionResults }) => {
        const each = assertionResults.map(({ duration }) => duration ?? 0);
        return [path, { fileMs: endTime - startTime, testMs: Math.max(0, ...each) }];
      }),
    ),
  };
}
