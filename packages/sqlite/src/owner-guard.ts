import { chmodSync, chownSync, statSync } from 'node:fs';
import { Database } from './node-sqlite.ts';

/** Path of the empty file beside a database that its one owner keeps locked. */
export const guardPathOf = (file: string): string => `${file}-owner`;

/** Gives a file the rights of the database, as SQLite does with its log. */
export const copyRights = (file: string, path: string): void => {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || process.geteuid === undefined) return;
  chmodSync(path, found.mode & 0o777);
  if (process.geteuid() === 0) chownSync(path, found.uid, found.gid);
};

/**
 * Makes this process the owner of a database file until the guard is closed, or the process ends. Throws what
 * node:sqlite throws: `SQLITE_BUSY` where there is an owner. The guard is never removed: two processes could
 * lock two files of its name. Only SQLite opens it, because closing a file gives up the locks of the process.
 */
export const takeGuard = (file: string): Database => {
  const guardPath = guardPathOf(file);
  const isNew = statSync(guardPath, { throwIfNoEntry: false }) === undefined;
  const guard = new Database(guardPath);
  try {
    if (isNew) copyRights(file, guardPath);
    guard.exec('BEGIN EXCLUSIVE');
    return guard;
  } catch (thrown) {
    guard.close();
    throw thrown;
  }
};
