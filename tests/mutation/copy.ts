import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argumentsFor, root } from '@plantstore/test-support/related-tests';

/** Copies the repository with its uncommitted changes into a folder until the process exits. */
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

/** Whether a test has failed, and the files of those that are reported. */
export type TestRun = { readonly hasFailed: boolean; readonly failed: readonly string[] };

/** Time limits of a test and of a run, in milliseconds. They only end what hangs. */
const limits = { testMs: 120_000, runMs: 900_000 };

/** Runs test files in a copy until one fails, in a process group of its own, which ends with it. */
export async function runTests(copy: string, files: readonly string[]): Promise<TestRun> {
  const report = join(copy, 'node_modules/mutation.json');
  rmSync(report, { force: true });
  const { testMs, runMs } = limits;
  const options = [`--testTimeout=${testMs}`, `--hookTimeout=${testMs}`, '--bail=1'];
  const child = spawn(
    join(copy, 'node_modules/.bin/vitest'),
    ['run', ...options, '--reporter=json', `--outputFile=${report}`, ...argumentsFor(files)],
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
  await once(child, 'close');
  clearTimeout(timer);
  // A test that fails can leave processes behind.
  end();
  process.off('exit', end);
  // A loop without an end is killed before it has reported.
  if (!existsSync(report)) return { hasFailed: true, failed: [] };
  const { success, testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    readonly success: boolean;
    readonly testResults: readonly { readonly name: string; readonly status: string }[];
  };
  const failed = testResults.filter(({ status }) => status === 'failed');
  return { hasFailed: !success, failed: failed.map(({ name }) => name.slice(copy.length + 1)) };
}
