import { spawnSync } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = async (file: string) => readFile(join(root, file), 'utf8');

/** Files of this repository as they are after a release's steps. */
const ready: Readonly<Record<string, string>> = {
  'package.json': (await read('package.json')).replaceAll('OWNER', 'ada'),
  '.github/CODEOWNERS': (await read('.github/CODEOWNERS')).replaceAll('OWNER', 'ada'),
  'packages/core/package.json': '{"version":"0.1.0"}',
};

/** Runs the check over a repository with these files. Returns the faults. */
const check = async (files: Readonly<Record<string, string>>) => {
  const folder = await makeFolder();
  for (const [name, content] of Object.entries({ ...ready, ...files })) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  await cp(join(root, '.changeset/README.md'), join(folder, '.changeset/README.md'));
  const args = [join(root, 'scripts/check-release.mjs')];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  expect(status).toBe(stderr === '' ? 0 : 1);
  return stderr;
};

it('the check of a release accepts this repository once OWNER is replaced and its versions are set', async () => {
  expect(await check({})).toBe('');
});

it.each([
  ['package.json', 'OWNER'],
  ['.github/CODEOWNERS', '* @OWNER\n'],
  ['packages/core/package.json', '{"version":"0.0.0"}'],
  ['.changeset/new.md', 'New.'],
])('the check of a release refuses a repository whose %s is %j', async (file, content) => {
  expect(await check({ [file]: content })).toContain(`${file}: `);
});
