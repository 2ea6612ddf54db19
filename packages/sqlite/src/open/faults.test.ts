import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it } from 'vitest';
import { makeStore } from '../../test/store-file.ts';
import { checkPlants } from '../read/check-plants.ts';
import { Database } from './connection.ts';
import { explain } from './faults.ts';

it('the error of SQLite on a network file system is reported as unsuitable-disk', () => {
  const mapFailed = Object.assign(new Error('disk I/O error'), { errcode: 5386 });
  expect(explain('/net/plants.db', mapFailed)).toEqual({
    kind: 'unsuitable-disk',
    path: '/net/plants.db',
    message:
      '/net/plants.db is in a folder where files cannot be locked, shared or synced (disk I/O error), such as a network file system; move it to a local disk',
    cause: mapFailed,
  });
});

it('the error of a disk that cannot read is not attributed to a folder that cannot be written to', () => {
  const cannotRead = Object.assign(new Error('disk I/O error'), { errcode: 266 });
  const path = '/missing/plants.db';
  expect(explain(path, cannotRead)).toMatchObject({
    kind: 'input-output',
    message: `${path} cannot be read or written: the disk reports an error or is full, or a quota or the limit of a size (ulimit -f) is exceeded; check each`,
  });
});

it('an exception of neither SQLite nor a system call is thrown again', () => {
  const bug = new TypeError('a bug');
  expect(() => explain('plants.db', bug)).toThrow(bug);
});

it('the error of a killed transaction states how to roll it back, which a read cannot do', async () => {
  const folder = await makeFolder();
  const original = join(folder, 'original.db');
  const path = join(folder, 'plants.db');
  makeStore(original, [{ id: 7n, name: 'Monstera' }]);
  const other = new Database(original);
  other.exec('PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN');
  other.exec('CREATE TABLE large AS SELECT randomblob(90000) AS bytes');
  // The state of the files that a kill would leave.
  for (const suffix of ['', '-journal']) copyFileSync(original + suffix, path + suffix);
  other.close();

  expect(checkPlants(path)._unsafeUnwrapErr()).toMatchObject({
    kind: 'journal-left',
    message: `${path} has a rollback journal of a program that was killed, and a read cannot roll it back; start the server once, or open a copy of both files with sqlite3`,
  });
  makeStore(path);
  expect(checkPlants(path)._unsafeUnwrap()).toMatchObject({ plants: 1, damage: [] });
});
