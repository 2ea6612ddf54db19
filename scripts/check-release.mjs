// Refuses to release a repository whose manifests have placeholders, or whose changesets are no versions yet.
import { globSync, readFileSync } from 'node:fs';

const faults = [];
const read = (file) => readFileSync(file, 'utf8');

const { author, homepage, bugs, repository } = JSON.parse(read('package.json'));
const owner = /^git\+https:\/\/github\.com\/([^/]+)\/[^/]+\.git$/.exec(repository?.url)?.[1];
if (owner === undefined) faults.push('package.json: repository.url is no GitHub URL. Set it.');
if (JSON.stringify({ author, homepage, bugs, repository }).includes('OWNER')) {
  faults.push(
    'package.json: OWNER is a placeholder. Replace it in author, homepage, bugs and repository.',
  );
} else if (owner !== undefined && !read('.github/CODEOWNERS').includes(`@${owner}`)) {
  faults.push(`.github/CODEOWNERS: @${owner} of package.json is missing. Add it.`);
}

for (const file of globSync('packages/*/package.json')) {
  if (JSON.parse(read(file)).version === '0.0.0') {
    faults.push(
      `${file}: the version is 0.0.0. Run "npx -y pnpm@12 changeset version" and commit what it writes.`,
    );
  }
}
const changesets = globSync('.changeset/*.md').filter((file) => !file.endsWith('README.md'));
if (changesets.length > 0) {
  faults.push(
    `.changeset: ${changesets.length} changesets have no version. Run "npx -y pnpm@12 changeset version" and commit what it writes.`,
  );
}

for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
