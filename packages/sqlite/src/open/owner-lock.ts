import { chmodSync, chownSync, closeSync, existsSync, openSync, statSync } from 'node:fs';
import { err, ok, type Result } from 'neverthrow';
import { Database } from './connection.ts';
import { codeOf, failureOf, openError, type OpenSqliteError } from './errors.ts';
import { explain } from './faults.ts';

/** Time to wait for another process that has the file locked, in milliseconds. */
export const lockTimeoutMs = 500;

/** Makes this process the owner of a file until the connection is closed. */
export function acquireOwnerLock(path: string, file: string): Result<Database, OpenSqliteError> {
  const lockPath = ownerLockPathOf(file);
  let lock: Database | undefined;
  try {
    const isNew = isCreated(lockPath);
    lock = new Database(lockPath, { timeout: lockTimeoutMs });
    // The owner of a read-only database must be able to lock the file later.
    if (isNew) copyPermissions(file, lockPath, 0o600);
    // Without write access, BEGIN EXCLUSIVE is a shared lock, and the write fails. Never committed.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE; PRAGMA user_version = 1');
    return ok(lock);
  } catch (cause) {
    lock?.close();
    if (failureOf(cause) === 'not-a-database') {
      const detail = `${lockPath} beside it must be empty; copy its content elsewhere, and empty it`;
      return err(openError(path, { kind: 'unexpected', detail, cause }));
    }
    const isOfLock = existsSync(lockPath) && failureOf(cause) !== 'locked';
    return err(explain(isOfLock ? lockPath : path, cause));
  }
}

/** Creates a file unless it exists. The error of open(2) says more than SQLite's. */
function isCreated(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o644));
    return true;
  } catch (thrown) {
    if (codeOf(thrown) !== 'EEXIST') throw thrown;
    return false;
  }
}

/** Path of the empty file beside a database that its owner keeps locked. */
export function ownerLockPathOf(file: string): string {
  return `${file}-owner`;
}

/**
 * Copies the permissions of a file, which may be missing, as SQLite does for the WAL file; and, as
 * root, the owner of another one.
 */
export function copyPermissions(file: string, path: string, extraMode = 0, owned = file): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || process.geteuid === undefined) return;
  chmodSync(path, (found.mode & 0o777) | extraMode);
  const { uid, gid } = statSync(owned);
  if (process.geteuid() === 0) chownSync(path, uid, gid);
}
