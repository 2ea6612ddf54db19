// Refuses to release a repository with placeholders, or with changesets that are no versions yet.
import { globSync, readFileSync } from 'node:fs';

const read = (file) => readFileSync(file, 'utf8');

const faults = ['package.json', '.github/CODEOWNERS']
  .filter((file) => read(file).includes('OWNER'))
  .map((file) => `${file}: OWNER is a placeholder. Replace it.`);
const changesets = globSync('.changeset/*.md').filter((file) => !file.endsWith('README.md'));
const unversioned = globSync('packages/*/package.json').filter(
  (file) => JSON.parse(read(file)).version === '0.0.0',
);
for (const file of [...changesets, ...unversioned].toSorted())
  faults.push(`${file}: run "npx -y pnpm@12 changeset version" and commit what it writes.`);

for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
