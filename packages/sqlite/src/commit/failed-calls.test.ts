import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { faultyDisk } from '@plantstore/test-support/faulty-disk';
import { expect, it } from 'vitest';
import { makeStore, plants } from '../../test/store-file.ts';

it('a repository creates no plant after a failed sync of a checkpoint as long as another program has the file open, however often it tries', async ({
  skip,
}) => {
  const disk = await faultyDisk(skip);
  makeStore(disk.path, plants(0, 20));
  const program = fileURLToPath(new URL('../../test/create-beside-reader.ts', import.meta.url));
  const args = ['--disable-warning=ExperimentalWarning', program, disk.path];
  const env = { ...process.env, ...disk.env, DISK_FAILS: 'database 1 1' };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  expect(JSON.parse(stdout)).toEqual([
    'ok',
    expect.stringMatching(/input-output$/) as unknown,
    expect.stringMatching(/^the database cannot be opened: /) as unknown,
    'the other connection is closed',
    'ok',
  ]);
});
