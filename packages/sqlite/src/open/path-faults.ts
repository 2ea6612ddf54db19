import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import { failureOf, type Fault, openError, type OpenSqliteError, resultCodeOf } from './errors.ts';
import { findFolderFault, findInodeFault } from './folder-faults.ts';
import { absolutePath, findOtherPath, resolveLinks } from './path.ts';

/**
 * Checks whether this user may create or write a database file at a path: its length, its folder, its type, its links and
 * its permissions. Opens and creates no file, so it can run while a repository has the file open. It does not read the content.
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
      const fault = findPathFault(file) ?? findOtherPath(resolveLinks(file));
      return fault === undefined ? ok() : err(openError(file, fault));
    } catch (thrown) {
      return err(explain(file, thrown));
    }
  });
}

/** Returns the error for an exception from SQLite or a system call, with its cause if it is found. Rethrows any other one, which is a bug. */
export function explain(path: string, thrown: unknown, access = readAndWrite): OpenSqliteError {
  const kind = failureOf(thrown);
  if (kind === undefined) throw thrown;
  return openError(path, { ...(findCause(path, thrown, access) ?? { kind }), cause: thrown });
}

/** Returns the cause in the file system: SQLite's "unable to open", "is locked" and "disk I/O error" have many. */
export function findCause(path: string, thrown: unknown, access = readAndWrite): Fault | undefined {
  const kind = failureOf(thrown);
  // Reading a file that is complete without a WAL file needs no write access.
  const mayBeOfPath = kind !== 'input-output' || access === readAndWrite;
  const isOfPath = kind === 'read-only' || kind === 'cannot-open' || kind === 'input-output';
  const fault = isOfPath && mayBeOfPath ? findPathFault(path, access) : undefined;
  const mayBeOfFolder =
    kind === 'locked' || kind === 'cannot-open' || folderCodes.includes(resultCodeOf(thrown));
  if (kind === 'disk-full') return findInodeFault(dirname(tryToResolve(path)));
  if (fault !== undefined || !mayBeOfFolder) return fault;
  return findFolderFault(dirname(tryToResolve(path)), access === readAndWrite);
}

/** Returns what is wrong with a path, without opening or creating a file. */
function findPathFault(linkedPath: string, access = readAndWrite): Fault | undefined {
  const path = tryToResolve(linkedPath);
  const folder = dirname(path);
  const mayWrite = access === readAndWrite;
  const folderError = accessError(`${folder}/.`, constants.X_OK);
  if (folderError === 'EACCES' || folderError === 'EPERM')
    return cannotOpen(`this user may not enter the folder ${folder}; grant it access`);
  if (folderError === 'ENOENT')
    return cannotOpen(`the folder ${folder} does not exist; make it first`);
  if (folderError !== undefined && folderError !== 'ENAMETOOLONG')
    return cannotOpen(`${folder} cannot be used as a folder: ${folderError}; check the path`);
  const tooLong = findLengthFault(path);
  if (tooLong !== undefined) return tooLong;
  const folderWriteError = accessError(folder, constants.W_OK);
  if (mayWrite && folderWriteError === 'EROFS')
    return readOnly(
      `the file system of ${path} is mounted read-only; mount it for writing, or name a file on another one`,
    );
  const exists = accessError(path, constants.F_OK) === undefined;
  const wrongType = exists ? findTypeFault(path) : undefined;
  if (wrongType !== undefined) return wrongType;
  if (exists && accessError(path, access) !== undefined)
    return mayWrite
      ? { kind: 'read-only' }
      : cannotOpen(`this user may not read ${path}; grant it read access`);
  const advice = mayWrite
    ? ': grant this user write access'
    : ' to read it: copy it to another folder, with its -wal file if there is one, and read the copy';
  if (folderWriteError !== undefined)
    return readOnly(
      `the folder ${folder} cannot be written to; SQLite creates files beside ${path}${advice}`,
    );
  return existsSync(`${path}-wal`) ? undefined : findInodeFault(folder);
}

/** Returns why a path is not that of a file. SQLite would create files beside a device or a pipe. */
export function findTypeFault(path: string): Fault | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return undefined;
  return cannotOpen(
    found.isDirectory()
      ? `${path} is a folder, not a file; name a file in it`
      : `${path} is a device or a pipe, not a file; name another file`,
  );
}

const readAndWrite = constants.R_OK | constants.W_OK;

/** SQLITE_IOERR_UNLOCK, RDLOCK, CHECKRESERVEDLOCK, LOCK, SHMOPEN and SHMSIZE: some file systems lack the call. */
const folderCodes: readonly unknown[] = [2058, 2314, 3594, 3850, 4618, 4874];

/** Longest name of a file, and longest path of SQLite, in bytes, without the suffixes of the files beside a database and its lock file. */
const maxName = 255 - '-journal'.length;
const maxPath = 512 - '-journal'.length - '-owner'.length;

const cannotOpen = (message: string): Fault => ({ kind: 'cannot-open', message });
const readOnly = (message: string): Fault => ({ kind: 'read-only', message });

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
    accessSync(path, mode);
    return undefined;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code;
  }
}

function findLengthFault(path: string): Fault | undefined {
  const [name, whole] = [Buffer.byteLength(basename(path)), Buffer.byteLength(path)];
  const [what, length, max] =
    name > maxName ? [`the name of ${path}`, name, maxName] : [path, whole, maxPath];
  if (process.platform === 'win32' || length <= max) return undefined;
  const message = `${what} is too long: it has ${length} bytes, and because of the files that SQLite creates beside it, it can have ${max}; choose a shorter one`;
  return cannotOpen(message);
}
