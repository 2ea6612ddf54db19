import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../../test/open-on-mounts.ts', import.meta.url));

const canMount = async (): Promise<boolean> =>
  run('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt']).then(
    () => true,
    () => false,
  );

it('a file that is mounted alone is refused, one that is not opens, a mounted folder has one owner, and a hidden file is not reported as renamed', async ({
  skip,
}) => {
  skip(!(await canMount()), 'this user cannot mount anything on this machine');
  const folder = await makeFolder();
  const node = ['--disable-warning=ExperimentalWarning'];
  const { stdout } = await run('unshare', ['--mount', process.execPath, ...node, program, folder]);
  expect(JSON.parse(stdout)).toEqual({
    whileOpen: { ofFile: 'mount-point', ofFolder: 'locked' },
    afterwards: { ofFile: 'mount-point', ofFolder: true },
    // Plants in the WAL beside the other path would be missing.
    readOfFile: 'mount-point',
    readOnly: `the file system of ${folder}/read-only/plants.db is mounted read-only; mount it for writing, or name a file on another one`,
    // A folder that covers the mount of another file with the same path.
    reasonOfHidden: {
      kind: 'store-unavailable',
      reason: `${folder}/covered/plants.db was renamed, or another file system is mounted over its folder, while it was in use; move it back, with the files beside it that were moved, too, or unmount that file system`,
    },
  });
});
