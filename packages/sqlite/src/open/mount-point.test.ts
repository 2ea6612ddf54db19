import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it } from 'vitest';

it('a file that is mounted alone is refused, and a mounted folder has one owner', async ({
  skip,
}) => {
  const mounting = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt']);
  skip(mounting.status !== 0, 'this user cannot mount anything on this machine');
  const program = fileURLToPath(new URL('../../test/open-on-mounts.ts', import.meta.url));
  const args = ['--mount', process.execPath, '--no-warnings', program, await makeFolder()];
  const { stdout } = await promisify(execFile)('unshare', args);
  expect(JSON.parse(stdout)).toEqual({
    whileOpen: ['mount-point', 'locked'],
    afterwards: ['mount-point', 'opened'],
    // Plants in the WAL beside the other path would be missing.
    read: 'mount-point',
  });
});
