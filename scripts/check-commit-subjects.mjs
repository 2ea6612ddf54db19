// Checks the subjects of the commits since the last tag, or since the commit from which the rule holds.
import { execFileSync } from 'node:child_process';

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trimEnd();

const firstWithRule = 'f301fde';
const tag = git('tag', '--merged', 'HEAD', '--sort=-creatordate').split('\n')[0];
const subjects = git('log', '--no-merges', '--format=%h %s', `${tag || firstWithRule}..HEAD`);

const form = /^[0-9a-f]+ (?=.{1,72}$)[a-z][a-z0-9 ,/-]*: [A-Za-z`]/;
const wrong = subjects.split('\n').filter((line) => line !== '' && !form.test(line));
for (const line of wrong) {
  process.stderr.write(`${line}\n  Write "area: do something", at most 72 characters.\n`);
}
process.exitCode = wrong.length === 0 ? 0 : 1;
