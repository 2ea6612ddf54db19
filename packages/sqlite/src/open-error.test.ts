import { expect, it } from 'vitest';
import { openErrorOf } from './open-error.ts';

it('reports no-shared-memory for the error of SQLite on a network file system', () => {
  const mapFailed = Object.assign(new Error('disk I/O error'), { errcode: 5386 });
  expect(openErrorOf('/net/plants.db', mapFailed)).toEqual({
    kind: 'no-shared-memory',
    path: '/net/plants.db',
    message:
      '/net/plants.db is in a folder where processes cannot share memory, such as a network file system; move it to a local disk',
    cause: mapFailed,
  });
});
