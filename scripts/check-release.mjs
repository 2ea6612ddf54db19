// Refuses to release a repository whose manifests have placeholders, or whose changesets are no versions yet.
import { globSync, readFileSync } from 'node:fs';

const faults = [];
const read = (file) => readFileSync(file, 'utf8');

const { author, homepage, bugs, repository } = JSON.parse(read('package.json'));
const owner = /^git\+https:\/\/github\.com\/([^/]+)\/[^/]+\.git$/.exec(repository?.url)?.[1];
if (owner === undefined) faults.push('package.json: repository.url is no GitHub URL. Set it.');
if (JSON.stringify({ author, homepage, bugs, repository }).includes('OWNER')) {
  faults.push(
    'package.json: OWNER is the one placeholder to fill in. Replace it in author, homepage, bugs and repository, and in .github/CODEOWNERS.',
  );
} else if (owner !== undefined && !read('.github/CODEOWNERS').includes(`@${owner}`)) {
  faults.push(`.github/CODEOWNERS: @${owner} of package.json is missing. Add it.`);
}

const changesets = globSync('.changeset/*.md').filter((file) => !file.endsWith('README.md'));
const unversioned = globSync('packages/*/package.json').filter(
  (file) => JSON.parse(read(file)).version === '0.0.0',
);
if (changesets.length > 0 || unversioned.length > 0) {
  const what =
    changesets.length > 0
      ? `.changeset: ${changesets.length} changesets have no version`
      : `${unversioned.toSorted().join(', ')}: the version is 0.0.0`;
  faults.push(`${what}. Run "npx -y pnpm@12 changeset version" and commit what it writes.`);
}

for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
