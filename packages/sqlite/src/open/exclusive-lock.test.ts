import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it } from 'vitest';
import { runInOtherProgram } from '../../test/other-program.ts';
import { openAsOwner } from './owned-database.ts';

it('an open keeps the exclusive lock while it writes the end of the file again, and reports a failure of that', async () => {
  const folder = await makeFolder();
  const path = join(folder, 'plants.db');
  const database = openAsOwner({ path })._unsafeUnwrap();
  const count = 'SELECT count(*) AS plants FROM plants';
  let meanwhile: unknown;
  const busy = database.withExclusiveLock(() => {
    database.rewriteTail();
    meanwhile = runInOtherProgram(path, count);
  });
  expect(busy).toBeUndefined();
  expect(meanwhile).toBe('database is locked');
  expect(runInOtherProgram(path, count)).toEqual([{ plants: 0 }]);
  const failed = new Error('EIO: i/o error, write');
  const fail = () => {
    throw failed;
  };
  expect(() => database.withExclusiveLock(fail)).toThrow(failed);
  database.close();
});
