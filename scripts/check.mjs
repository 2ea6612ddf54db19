// Checks what belongs to the files that differ from main, committed or not: their format and lint, all types, the pages, and
// the tests of the same package that import these files.
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';

process.chdir(join(import.meta.dirname, '..'));

const files = changedFiles();
const code = files.filter((file) => /\.[cm]?[jt]s$/.test(file));
const results = await Promise.all([
  check('format', files, ['prettier/bin/prettier.cjs', '--check', '--ignore-unknown', ...files]),
  check('lint', code, ['oxlint/bin/oxlint', '--type-aware', '--deny-warnings', ...code]),
  check('types', files, ['typescript/bin/tsc', '-p', 'tsconfig.json']),
  checkTests(),
]);
process.exitCode = results.includes('failed') ? 1 : 0;

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

/** Runs the tests that compare the pages with the code, then those that import a changed file. Both build the packages first. */
async function checkTests() {
  const vitest = 'vitest/vitest.mjs';
  const brief = ['--reporter=dot', '--silent=passed-only'];
  const projects = [...globSync('packages/*'), 'examples', 'tests', 'bench'].filter((folder) =>
    code.some((file) => file.startsWith(`${folder}/`)),
  );
  const pages = await check('pages', files, [
    vitest,
    'run',
    ...brief,
    '--project=tests',
    'tests/docs',
    'tests/mutation',
  ]);
  const related = [vitest, 'related', '--run', '--passWithNoTests', ...brief];
  const tests = await check('tests', projects, [
    ...related,
    ...projects.map((folder) => `--project=${folder}`),
    ...code,
  ]);
  return [pages, tests].includes('failed') ? 'failed' : 'passed';
}

/** Runs a program of node_modules if there is something to check, and prints its output if it fails. */
async function check(name, subjects, [program, ...args]) {
  if (subjects.length === 0) return 'skipped';
  const start = performance.now();
  const { promise, resolve } = Promise.withResolvers();
  const command = [join('node_modules', program), ...args];
  // A test of broken code can wait forever.
  const options = { maxBuffer: Infinity, timeout: 180_000 };
  execFile(process.execPath, command, options, (error, stdout, stderr) => {
    const result = error === null ? 'passed' : 'failed';
    if (result === 'failed') process.stdout.write(`\n${stdout}${stderr}`);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    process.stdout.write(`${name}: ${result} (${seconds} s)\n`);
    resolve(result);
  });
  return promise;
}
