import { chmodSync, chownSync, existsSync, statSync } from 'node:fs';
import { err, ok, type Result } from 'neverthrow';
import { Database } from './connection.ts';
import { failureOf, openError, type OpenSqliteError } from './errors.ts';
import { explain, findCause } from './path-faults.ts';

/** Time to wait for another process that has the file locked, in milliseconds. */
export const lockTimeoutMs = 500;

/** Makes this process the owner of a file until the connection is closed. The error names `path`. */
export function acquireOwnerLock(path: string, file: string): Result<Database, OpenSqliteError> {
  const lockPath = ownerLockPathOf(file);
  let lock: Database | undefined;
  try {
    const isNew = statSync(lockPath, { throwIfNoEntry: false }) === undefined;
    lock = new Database(lockPath, { timeout: lockTimeoutMs }, false);
    // The owner of a read-only database must be able to lock the file later.
    if (isNew) copyPermissions(file, lockPath, 0o600);
    // Without write access, BEGIN EXCLUSIVE is a shared lock, and the write fails. Never committed.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE; PRAGMA user_version = 1');
    return ok(lock);
  } catch (thrown) {
    lock?.close();
    return err(errorOf(path, lockPath, thrown));
  }
}

/** Path of the empty file beside a database that its owner keeps locked. */
export function ownerLockPathOf(file: string): string {
  return `${file}-owner`;
}

/** Copies the permissions and, as root, the owner of a database file, as SQLite does for the WAL file. */
export function copyPermissions(file: string, path: string, extraMode = 0): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || process.geteuid === undefined) return;
  chmodSync(path, (found.mode & 0o777) | extraMode);
  if (process.geteuid() === 0) chownSync(path, found.uid, found.gid);
}

function errorOf(path: string, lockPath: string, thrown: unknown): OpenSqliteError {
  const failure = failureOf(thrown);
  if (failure === undefined || failure === 'locked') return explain(path, thrown);
  const fault = findCause(path, thrown);
  if (fault !== undefined) return openError(path, { ...fault, cause: thrown });
  const kind = failure === 'not-a-database' ? 'cannot-open' : failure;
  const advice = existsSync(lockPath)
    ? `grant this user write access, or remove it while no process has ${path} open`
    : 'check the disk and its file system';
  const message = `${lockPath} cannot be locked: ${(thrown as Error).message}: ${advice}`;
  return openError(path, { kind, message, cause: thrown });
}
