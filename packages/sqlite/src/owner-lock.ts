import { chmodSync, chownSync, statSync } from 'node:fs';
import { DatabaseSync } from './node-sqlite.ts';
import { sqliteFailureOf } from './sqlite-failure.ts';

/** Time to wait for another process that has the file locked, in milliseconds. */
export const lockTimeoutMs = 500;

/** Path of the empty file beside a database that its owner keeps locked. */
export const ownerLockPathOf = (file: string): string => `${file}-owner`;

/** Copies the permissions and, as root, the owner of a database file, as SQLite does for the WAL file. */
export const copyPermissions = (file: string, path: string, extraMode = 0): void => {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || process.geteuid === undefined) return;
  chmodSync(path, (found.mode & 0o777) | extraMode);
  if (process.geteuid() === 0) chownSync(path, found.uid, found.gid);
};

/** The owner lock cannot be acquired, although the file has no owner. */
export class OwnerLockFailure extends Error {}

/**
 * On a file without write access, BEGIN EXCLUSIVE acquires a shared lock only: the write fails there.
 * The transaction is never committed, and the file stays empty.
 */
const lockStatements = 'PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE; PRAGMA user_version = 1';

/**
 * Makes this process the owner of a database file until the returned connection is closed, or the process exits.
 * Throws the `SQLITE_BUSY` exception of node:sqlite when the file has an owner, and otherwise an `OwnerLockFailure`.
 * The lock file is never removed: two processes could otherwise lock two files of the same name. Only SQLite opens it,
 * because a POSIX close releases all locks of the process on the file.
 */
export const acquireOwnerLock = (file: string): { readonly close: () => void } => {
  const lockPath = ownerLockPathOf(file);
  let lock: InstanceType<typeof DatabaseSync> | undefined;
  try {
    const isNew = statSync(lockPath, { throwIfNoEntry: false }) === undefined;
    lock = new DatabaseSync(lockPath, { timeout: lockTimeoutMs });
    // The owner of a read-only database must be able to lock the file later.
    if (isNew) copyPermissions(file, lockPath, 0o600);
    lock.exec(lockStatements);
    return lock;
  } catch (thrown) {
    lock?.close();
    if (!(thrown instanceof Error) || sqliteFailureOf(thrown) === 'locked') throw thrown;
    throw new OwnerLockFailure(`${lockPath} cannot be locked: ${thrown.message}`, {
      cause: thrown,
    });
  }
};
