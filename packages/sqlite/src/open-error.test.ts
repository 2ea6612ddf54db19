import { expect, it } from 'vitest';
import { openErrorOf } from './open-error.ts';

it('names a folder in which programs cannot share memory, as SQLite reports it of a network folder', () => {
  const mapFailed = Object.assign(new Error('disk I/O error'), { errcode: 5386 });
  expect(openErrorOf('/net/plants.db', mapFailed)).toEqual({
    kind: 'no-shared-memory',
    path: '/net/plants.db',
    message:
      '/net/plants.db is in a folder in which programs cannot share memory, as in a network folder; move it to a local disk',
    cause: mapFailed,
  });
});
