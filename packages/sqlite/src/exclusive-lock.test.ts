import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it } from 'vitest';
import { runInOtherProgram } from '../test/other-program.ts';
import { openDatabaseFile } from './database-file.ts';
import { withExclusiveLock } from './exclusive-lock.ts';
import { rewriteTail } from './wal-file.ts';

it('an open keeps the exclusive lock while it writes the end of the file again, and reports a failure of that', async () => {
  const folder = await makeFolder();
  const path = join(folder, 'plants.db');
  const database = openDatabaseFile(path, { mayBeNew: true, mustRewrite: false });
  if ('kind' in database) throw new Error(database.kind);
  const count = 'SELECT count(*) AS plants FROM plants';
  let meanwhile: unknown;
  const busy = withExclusiveLock(database, () => {
    rewriteTail(database, path);
    meanwhile = runInOtherProgram(path, count);
  });
  expect(busy).toBeUndefined();
  expect(meanwhile).toBe('database is locked');
  expect(runInOtherProgram(path, count)).toEqual([{ plants: 0 }]);
  const failed = new Error('EIO: i/o error, write');
  const fail = () => {
    throw failed;
  };
  expect(() => withExclusiveLock(database, fail)).toThrow(failed);
  database.close();
});
