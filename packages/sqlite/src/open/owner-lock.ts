import { chmodSync, chownSync, closeSync, existsSync, openSync, statSync } from 'node:fs';
import { err, ok, type Result } from 'neverthrow';
import { Database } from './connection.ts';
import { codeOf, failureOf, openError, type OpenSqliteError } from './errors.ts';
import { explain, findDenied } from './faults.ts';

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
    const isOfLock = existsSync(lockPath) && lockFailures.includes(failureOf(cause));
    if (!isOfLock || findDenied(path) !== undefined) return err(explain(path, cause));
    const found =
      `${lockPath} cannot be locked (${(cause as Error).message}); it must be an empty file to ` +
      'which this user may write';
    return err(openError(path, { fault: 'path-invalid', found, cause }));
  }
}

/** Failures because of the lock file itself. */
const lockFailures: readonly unknown[] = ['cannot-open', 'read-only', 'not-a-database'];

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

/** Copies the permissions and, as root, the owner of a file, as SQLite does for the WAL file. */
export function copyPermissions(file: string, path: string, extraMode = 0): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || process.geteuid === undefined) return;
  chmodSync(path, (found.mode & 0o777) | extraMode);
  if (process.geteuid() === 0) chownSync(path, found.uid, found.gid);
}
