import { spawnSync } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

const manifestOf = (owner: string) => ({
  author: owner,
  homepage: `https://github.com/${owner}/plantstore#readme`,
  bugs: `https://github.com/${owner}/plantstore/issues`,
  repository: { type: 'git', url: `git+https://github.com/${owner}/plantstore.git` },
});

/** Runs the check over a repository with these files. */
const check = async (files: Readonly<Record<string, unknown>>) => {
  const folder = await makeFolder();
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    await writeFile(join(folder, name), text);
  }
  await cp(join(root, '.changeset/README.md'), join(folder, '.changeset/README.md'));
  const script = join(root, 'scripts/check-release.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, faults: stderr.trimEnd().split('\n') };
};

const ready = {
  'package.json': manifestOf('ada'),
  '.github/CODEOWNERS': '* @ada\n',
  'packages/core/package.json': { version: '0.1.0' },
};

it('the check of a release accepts a repository that is ready for a release', async () => {
  expect(await check(ready)).toEqual({ status: 0, faults: [''] });
});

it.each([
  [
    'a placeholder',
    { 'package.json': manifestOf('OWNER') },
    /^package\.json: OWNER is the one placeholder to fill in/,
  ],
  [
    'another owner of the code',
    { '.github/CODEOWNERS': '* @OWNER\n' },
    /^\.github\/CODEOWNERS: @ada /,
  ],
  ['no repository', { 'package.json': {} }, /^package\.json: repository\.url /],
  [
    'a package without a version',
    { 'packages/core/package.json': { version: '0.0.0' } },
    /^packages\/core\/package\.json: the version is 0\.0\.0/,
  ],
  ['a changeset', { '.changeset/new.md': 'New.' }, /^\.changeset: 1 changesets have no version/],
])('the check of a release refuses a repository with %s', async (_, files, fault) => {
  expect(await check({ ...ready, ...files })).toEqual({
    status: 1,
    faults: [expect.stringMatching(fault) as unknown],
  });
});

it('the check of a release accepts this repository after its versions if only OWNER is replaced', async () => {
  const [manifest, owners] = await Promise.all(
    ['package.json', '.github/CODEOWNERS'].map(async (file) => {
      const text = await readFile(join(root, file), 'utf8');
      return text.replaceAll('OWNER', 'ada');
    }),
  );
  const files = { 'package.json': manifest, '.github/CODEOWNERS': owners };
  expect(await check({ ...ready, ...files })).toEqual({ status: 0, faults: [''] });
});
