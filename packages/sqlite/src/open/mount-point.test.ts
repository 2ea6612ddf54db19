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
    readOnly: expect.stringContaining('plants.db cannot be written to (') as unknown,
    // A folder that covers the mount of another file with the same path.
    reasonOfHidden: {
      kind: 'store-unavailable',
      reason: expect.stringContaining('was removed, renamed or replaced while it') as unknown,
    },
  });
});
