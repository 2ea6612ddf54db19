// Checks what belongs to the files that differ from main, committed or not: their format and lint, all types, the pages, and
// the tests that load these files.
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { argumentsFor, findTests } from '../tests/support/related-tests.ts';

process.chdir(join(import.meta.dirname, '..'));

// A test of broken code can wait forever.
const limitSeconds = 1_200;
const files = changedFiles();
const code = files.filter((file) => /\.[cm]?[jt]s$/.test(file));
const relatedTests = findTests();
const results = await Promise.all([
  check('format', files, ['prettier/bin/prettier.cjs', '--check', '--ignore-unknown', ...files]),
  check('lint', code, ['oxlint/bin/oxlint', '--type-aware', '--deny-warnings', ...code]),
  check('types', files, ['typescript/bin/tsc', '-p', 'tsconfig.json']),
  checkTests(),
]);
process.exitCode = results.every((result) => result === 'passed' || result === 'skipped') ? 0 : 1;

/** Returns the files that differ from main and exist, those that git does not track yet included. */
function changedFiles() {
  const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).split(/[\0\n]/);
  // The fetched main is the first one: commits of a local main are changes, too.
  const branches = ['refs/remotes/origin/main', 'refs/heads/main'];
  const [main] = git('for-each-ref', '--format=%(refname)', '--sort=-refname', ...branches);
  return [
    ...git('diff', '--name-only', '-z', '--merge-base', main),
    ...git('ls-files', '--others', '--exclude-standard', '-z'),
  ].filter((file) => file !== '' && existsSync(file));
}

/** Runs the tests that compare the pages with the code, then those of the changed files. Both build the packages first. */
async function checkTests() {
  const run = ['vitest/vitest.mjs', 'run', '--reporter=dot', '--silent=passed-only'];
  const pages = await check('pages', files, [...run, '--project=tests', 'tests/docs']);
  const tests = [...new Set(code.flatMap(testsOf))];
  const result = await check('tests', tests, [...run, ...argumentsFor(tests)]);
  return pages === 'passed' ? result : pages;
}

/** Returns the tests of its package that load a file, else those of other folders, else all of its package. */
function testsOf(file) {
  const { own, others, all } = relatedTests(file);
  const tests = [own, others, all].find(({ length }) => length > 0) ?? [];
  if (tests.length === 0) process.stdout.write(`tests: no test loads ${file}\n`);
  return tests;
}

/** Runs a program of node_modules if there is something to check, and prints its output if it fails. */
async function check(name, subjects, [program, ...args]) {
  if (subjects.length === 0) return 'skipped';
  const start = performance.now();
  const { promise, resolve } = Promise.withResolvers();
  const command = [join('node_modules', program), ...args];
  const options = { maxBuffer: Infinity, timeout: 1_000 * limitSeconds };
  execFile(process.execPath, command, options, (error, stdout, stderr) => {
    const cutOff = `cut off after ${limitSeconds} s, so its result is not known`;
    const result = error === null ? 'passed' : error.killed ? cutOff : 'failed';
    if (error !== null) process.stdout.write(`\n${stdout}${stderr}\n`);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    process.stdout.write(`${name}: ${result} (${seconds} s)\n`);
    resolve(result);
  });
  return promise;
}
