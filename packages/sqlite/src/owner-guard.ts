import { chmodSync, chownSync, statSync } from 'node:fs';
import { Database } from './node-sqlite.ts';
import { sqliteFailureOf } from './sqlite-failure.ts';

/** Path of the empty file beside a database that its one owner keeps locked. */
export const guardPathOf = (file: string): string => `${file}-owner`;

/** Gives a file the rights of the database, as SQLite does with its log. */
export const copyRights = (file: string, path: string, extraMode = 0): void => {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || process.geteuid === undefined) return;
  chmodSync(path, (found.mode & 0o777) | extraMode);
  if (process.geteuid() === 0) chownSync(path, found.uid, found.gid);
};

/** Why a guard could not be locked, where it has no owner. */
export class GuardFailure extends Error {
  readonly guardPath: string;

  constructor(guardPath: string, cause: Error) {
    super(`${guardPath} cannot be locked: ${cause.message}`, { cause });
    this.guardPath = guardPath;
  }
}

/**
 * On a file that this user may only read, BEGIN EXCLUSIVE takes a lock that others can share: the write fails there.
 * It is never committed, and the file stays empty.
 */
const lock = 'PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE; PRAGMA user_version = 1';

/**
 * Makes this process the owner of a database file until the guard is closed, or the process ends. Throws the
 * `SQLITE_BUSY` of node:sqlite where there is an owner, and a `GuardFailure` otherwise. The guard is never removed: two
 * processes could lock two files of its name. Only SQLite opens it, because closing a file gives up the locks of the process.
 */
export const takeGuard = (file: string): Database => {
  const guardPath = guardPathOf(file);
  let guard: Database | undefined;
  try {
    const isNew = statSync(guardPath, { throwIfNoEntry: false }) === undefined;
    guard = new Database(guardPath);
    // A database that is read-only for now leaves a guard that its owner can lock later.
    if (isNew) copyRights(file, guardPath, 0o600);
    guard.exec(lock);
    return guard;
  } catch (thrown) {
    guard?.close();
    if (!(thrown instanceof Error) || sqliteFailureOf(thrown) === 'locked') throw thrown;
    throw new GuardFailure(guardPath, thrown);
  }
};
