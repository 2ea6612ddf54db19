import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it, onTestFinished } from 'vitest';
import { openAsOwner } from './owned-database.ts';

it('a database file has synchronous=FULL and WAL mode, and locks out a second owner', async () => {
  const path = join(await makeFolder(), 'plants.db');
  const database = openAsOwner({ path })._unsafeUnwrap();
  onTestFinished(() => database.close());
  const pragma = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {});
  const full = 2;
  expect(pragma('synchronous')).toEqual([full]);
  expect(pragma('journal_mode')).toEqual(['wal']);
  expect(pragma('locking_mode')).toEqual(['normal']);
  expect(openAsOwner({ path })._unsafeUnwrapErr().kind).toBe('locked');
});
