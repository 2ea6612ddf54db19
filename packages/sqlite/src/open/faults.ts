import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { Database } from './connection.ts';
import {
  codeOf,
  failureOf,
  type Fault,
  openError,
  type OpenSqliteError,
  warnings,
} from './errors.ts';
import { absolutePath, isMountPoint, resolveLinks } from './path.ts';
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
  return absolutePath(path).andThen((file) => {
    try {
      const fault = findDenied(file) ?? findPathFault(resolveLinks(file));
      return fault === undefined ? ok() : err(openError(file, fault));
    } catch (thrown) {
      return err(explain(file, thrown));
    }
  });
}

/** Returns why a path cannot be that of an owner's database. Throws the errors of system calls. */
export function findPathFault(file: string): Fault | undefined {
  const fault = findTypeFault(file);
  if (fault !== undefined) return fault;
  // Fails for a name that is too long: the longest one that SQLite creates beside the file.
  fs.lstatSync(`${file}-journal`, { throwIfNoEntry: false });
  return findOtherPath(file);
}

/** Returns why a path is not that of a file: SQLite would create files beside a device. */
export function findTypeFault(file: string): Fault | undefined {
  const found = fs.statSync(file, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return undefined;
  return { fault: 'path-invalid', found: 'it is a folder, a device or a pipe; name a file' };
}

/** Returns why another path of a file may have another WAL file and owner lock beside it. */
export function findOtherPath(file: string): Fault | undefined {
  const links = fs.statSync(file, { throwIfNoEntry: false })?.nlink ?? 0;
  if (links > 1) return { fault: 'hard-links' };
  return isMountPoint(file) ? { fault: 'mount-point' } : undefined;
}

/**
 * Returns a fault if a WAL file has plants, and the file is missing (`undefined`), empty or not in
 * WAL mode, as each backup is: SQLite would remove the WAL file, or apply it to the backup. It
 * changes the mode before the first commit to a WAL file, and back only after it has removed that.
 */
export function findWalOfAnotherFile(file: string, descriptor?: number): Fault | undefined {
  if ((walSize(file) ?? 0) <= walHeaderSize) return undefined;
  if (descriptor !== undefined && isInWalMode(descriptor)) return undefined;
  return { fault: 'wal-of-another-file' };
}

/**
 * Returns a fault if the disk has no free blocks. A write to the mapped -shm file then ends the
 * process with SIGBUS where its blocks are not allocated yet, or are copied on each write (btrfs).
 */
export function findFullDisk(file: string): Fault | undefined {
  const { bavail, bfree, blocks, bsize } = fs.statfsSync(dirname(file));
  const free = (process.geteuid?.() === 0 ? bfree : bavail) * bsize;
  // Some file systems do not count blocks.
  return blocks > 0 && free < minFreeBytes ? { fault: 'disk-full' } : undefined;
}

/** Twice what the -shm file grows at once. */
const minFreeBytes = 2 ** 16;

/** Returns what an operator should know of the disk of a file that can be used. */
export function findWarnings(file: string): readonly string[] {
  try {
    const isInMemory = fs.statfsSync(dirname(file)).type === tmpfs;
    return isInMemory ? [warnings.tmpfs.replace('{path}', () => file)] : [];
  } catch {
    // The folder was moved meanwhile, which the first commit finds.
    return [];
  }
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
  if (hasNoWal() && isTruncated(database, file) && hasNoWal()) return { fault: 'damaged' };
  if (isNew(database)) return use === 'create' ? undefined : { fault: 'empty' };
  return findUnreadable(database) ?? (use === 'read' ? undefined : findAlteration(database));
}

/**
 * Returns the error for an exception from SQLite or a system call, with the access that this user
 * lacks: SQLite's "unable to open" has many causes. Rethrows any other exception, which is a bug.
 */
export function explain(path: string, cause: unknown): OpenSqliteError {
  const fault = failureOf(cause);
  if (fault === undefined) throw cause;
  const mayBeDenied = fault === 'read-only' || fault === 'cannot-open';
  return openError(path, { fault, ...(mayBeDenied && findDenied(path)), cause });
}

/** Returns the first access to a path, its folder included, that this user does not have. */
export function findDenied(path: string): Fault | undefined {
  const folder = dirname(tryToResolve(path));
  const entered = accessError(`${folder}/.`, fs.constants.X_OK);
  if (entered !== undefined) {
    const found = `${folder}: ${entered}; make this folder, or let this user enter it`;
    return { fault: 'path-invalid', found };
  }
  const read = accessError(path, fs.constants.R_OK);
  if (read !== undefined && read !== 'ENOENT')
    return { fault: 'path-invalid', found: `${read}; correct the path, or let this user read it` };
  const written = read === undefined ? accessError(path, fs.constants.W_OK) : undefined;
  if (written !== undefined) return { fault: 'read-only', found: written };
  const beside = accessError(folder, fs.constants.W_OK);
  return beside === undefined ? undefined : { fault: 'read-only', found: `${folder}: ${beside}` };
}

function tryToResolve(path: string): string {
  try {
    return resolveLinks(path);
  } catch {
    // A folder that this user may not enter, for example.
    return path;
  }
}

/** Returns the code of the error of access(2), if there is one. */
function accessError(path: string, mode: number): string | undefined {
  try {
    fs.accessSync(path, mode);
    return undefined;
  } catch (thrown) {
    return String(codeOf(thrown));
  }
}
