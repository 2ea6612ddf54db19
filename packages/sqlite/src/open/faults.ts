import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { Database } from './connection.ts';
import { failureOf, type Fault, openError, type OpenSqliteError } from './errors.ts';
import { absolutePath, attempt, isMountPoint, resolveLinks } from './path.ts';
import { findAlteration, findUnreadable, isNew, isTruncated } from './table.ts';
import { isInWalMode, walHeaderSize, walSize } from './wal.ts';

/**
 * Checks whether this user may create or write a database file at a path: its folder, its type, its
 * links and its permissions. Opens and creates no file, so it can run while a repository has the
 * file open. It does not read the content.
 *
 * @example
 * ```ts
 * import { checkDatabasePath } from '@plantstore/sqlite';
 *
 * const checked = checkDatabasePath('/var/lib/plantstore/plants.db');
 * if (checked.isErr()) console.error(checked.error.message);
 * ```
 */
export function checkDatabasePath(path: string): Result<void, OpenSqliteError> {
  const file = absolutePath(path);
  try {
    const name = resolveLinks(file);
    const { R_OK, W_OK, X_OK } = fs.constants;
    fs.accessSync(dirname(name), W_OK | X_OK);
    if (fs.existsSync(name)) fs.accessSync(name, R_OK | W_OK);
    const fault = findPathFault(name);
    return fault === undefined ? ok() : err(openError(file, fault));
  } catch (thrown) {
    return err(explain(file, thrown));
  }
}

/** Returns why a path cannot be that of an owner's database. Throws the errors of system calls. */
export function findPathFault(file: string): Fault | undefined {
  // Fails for a name that is too long: the longest one that SQLite creates beside the file.
  fs.lstatSync(`${file}-journal`, { throwIfNoEntry: false });
  return findTypeFault(file) ?? findOtherPath(file);
}

/** Returns why a path is not that of a file: SQLite would create files beside a device. */
export function findTypeFault(file: string): Fault | undefined {
  const found = fs.statSync(file, { throwIfNoEntry: false });
  return found?.isFile() === false ? { kind: 'not-a-file' } : undefined;
}

/** Returns why another path of a file may have another WAL file and owner lock beside it. */
export function findOtherPath(file: string): Fault | undefined {
  const links = fs.statSync(file, { throwIfNoEntry: false })?.nlink ?? 0;
  if (links > 1) return { kind: 'hard-links' };
  return isMountPoint(file) ? { kind: 'mount-point' } : undefined;
}

/**
 * Returns a fault if a WAL file has plants, and the file is missing (`undefined`), empty or not in
 * WAL mode, as each backup is: SQLite would remove the WAL file, or apply it to the backup. It
 * changes the mode before the first commit to a WAL file, and back only after it has removed that.
 */
export function findWalOfAnotherFile(file: string, descriptor?: number): Fault | undefined {
  if ((walSize(file) ?? 0) <= walHeaderSize) return undefined;
  if (descriptor !== undefined && isInWalMode(descriptor)) return undefined;
  return { kind: 'wal-of-another-file' };
}

/**
 * Returns a fault if the disk has no free blocks. A write to the mapped -shm file then ends the
 * process with SIGBUS where its blocks are not allocated yet, or are copied on each write (btrfs).
 */
export function findFullDisk(file: string): Fault | undefined {
  const { bavail, bfree, blocks, bsize } = fs.statfsSync(dirname(file));
  const free = (process.geteuid?.() === 0 ? bfree : bavail) * bsize;
  // Some file systems do not count blocks.
  return blocks > 0 && free < minFreeBytes ? { kind: 'disk-full' } : undefined;
}

/** Twice what the -shm file grows at once. */
const minFreeBytes = 2 ** 16;

/** Returns what an operator should know of the disk of a file that can be used. */
export function findWarnings(file: string): readonly string[] {
  // If the folder was moved meanwhile, the first commit finds that.
  const isInMemory = attempt(() => fs.statfsSync(dirname(file)).type) === tmpfs;
  const warning =
    `${file} is in memory (tmpfs), and each plant is lost when the machine or the container ` +
    'ends; move it to a disk';
  return isInMemory ? [warning] : [];
}

/** The type that statfs(2) reports. */
const tmpfs = 0x01021994;

/** Returns why the content of a file cannot be used: by an owner, or to read its plants. */
export function findContentFault(
  database: Database,
  file: string,
  use: 'create' | 'own' | 'read',
): Fault | undefined {
  // The last pages can be in the WAL file alone, which an owner may write to between the checks.
  const hasNoWal = () => walSize(file) === 0;
  if (hasNoWal() && isTruncated(database, file) && hasNoWal()) return { kind: 'damaged' };
  if (isNew(database)) return use === 'create' ? undefined : { kind: 'empty' };
  return findUnreadable(database) ?? (use === 'read' ? undefined : findAlteration(database));
}

/**
 * Returns the error for an exception from SQLite or a system call. Rethrows any other exception,
 * which is a bug.
 */
export function explain(path: string, cause: unknown): OpenSqliteError {
  const kind = failureOf(cause);
  if (kind === undefined) throw cause;
  return openError(path, { kind, cause });
}
