import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import { Database } from './connection.ts';
import {
  codeOf,
  failureOf,
  type Fault,
  openError,
  type OpenSqliteError,
  resultCodeOf,
} from './errors.ts';
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

/**
 * Returns the error for an exception from SQLite or a system call, with its cause in the file system: SQLite's "unable to
 * open", "is locked" and "disk I/O error" have many causes. Rethrows any other exception, which is a bug.
 */
export function explain(path: string, thrown: unknown, access = readAndWrite): OpenSqliteError {
  const kind = failureOf(thrown);
  if (kind === undefined) throw thrown;
  return openError(path, { ...(findCause(path, thrown, access) ?? { kind }), cause: thrown });
}

/** Returns the cause of an exception in the file system, if it is found. */
export function findCause(path: string, thrown: unknown, access = readAndWrite): Fault | undefined {
  const kind = failureOf(thrown);
  // Reading a file that is complete without a WAL file needs no write access.
  const mayBeOfPath = kind !== 'input-output' || access === readAndWrite;
  const isOfPath = kind === 'read-only' || kind === 'cannot-open' || kind === 'input-output';
  const fault = isOfPath && mayBeOfPath ? findPathFault(path, access) : undefined;
  const mayBeOfFolder =
    kind === 'locked' || kind === 'cannot-open' || folderCodes.includes(resultCodeOf(thrown));
  return fault ?? (mayBeOfFolder ? findFolderFault(path, access) : undefined);
}

/** Returns what is wrong with a path, without opening or creating a file. */
export function findPathFault(linkedPath: string, access = readAndWrite): Fault | undefined {
  const path = tryToResolve(linkedPath);
  const folder = dirname(path);
  const mayWrite = access === readAndWrite;
  const folderError = accessError(`${folder}/.`, constants.X_OK);
  if (folderError === 'EACCES' || folderError === 'EPERM')
    return cannotOpen(`this user may not enter the folder ${folder}; grant it access`);
  if (folderError !== undefined && folderError !== 'ENAMETOOLONG')
    return cannotOpen(`the folder ${folder} does not exist; make it first`);
  const tooLong = findLengthFault(path);
  if (tooLong !== undefined) return tooLong;
  const exists = accessError(path, constants.F_OK) === undefined;
  const wrongType = exists ? findTypeFault(path) : undefined;
  if (wrongType !== undefined) return wrongType;
  if (exists && accessError(path, access) !== undefined)
    return mayWrite
      ? { kind: 'read-only' }
      : cannotOpen(`this user may not read ${path}; grant it read access`);
  if (accessError(folder, constants.W_OK) !== undefined)
    return readOnly(
      mayWrite
        ? `the folder ${folder} cannot be written to; SQLite creates files beside ${path}: grant this user write access`
        : `the folder ${folder} cannot be written to; SQLite creates files beside ${path} to read it: copy it to another folder, with its -wal file if there is one, and read the copy`,
    );
  return isOutOfInodes(folder) && !existsSync(`${path}-wal`) ? noInode(folder) : undefined;
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
function accessError(path: string, mode: number): unknown {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (thrown) {
    return codeOf(thrown);
  }
}

function findLengthFault(path: string): Fault | undefined {
  if (process.platform === 'win32') return undefined;
  const [name, whole] = [Buffer.byteLength(basename(path)), Buffer.byteLength(path)];
  if (name > maxName)
    return cannotOpen(
      `the name of ${path} is too long: it has ${name} bytes, and with the files that SQLite creates beside it, it can have ${maxName}; choose a shorter one`,
    );
  if (whole <= maxPath) return undefined;
  return cannotOpen(
    `${path} is too long: it has ${whole} bytes, and a path of SQLite can have ${maxPath}; choose a shorter one`,
  );
}

/** Tries on a new file what SQLite requires of the folder of a database. */
function findFolderFault(path: string, access: number): Fault | undefined {
  const folder = dirname(tryToResolve(path));
  const probe = join(folder, `.plantstore-${randomBytes(6).toString('hex')}`);
  let kind: 'no-shared-memory' | 'no-locks' | undefined;
  let database: Database | undefined;
  try {
    closeSync(openSync(probe, 'wx', 0o600));
    kind = 'no-shared-memory';
    truncateSync(probe, 2 ** 15);
    truncateSync(probe);
    // No other process knows the file.
    kind = 'no-locks';
    database = new Database(probe, { timeout: 0 }, false);
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return undefined;
  } catch (thrown) {
    return kind === undefined ? faultOfCreation(folder, thrown, access) : { kind };
  } finally {
    database?.close();
    if (kind !== undefined) rmSync(probe, { force: true });
  }
}

function faultOfCreation(folder: string, thrown: unknown, access: number): Fault | undefined {
  const kind = failureOf(thrown);
  // A file that is complete without a WAL file can be read in a folder that cannot be written to.
  if (kind === 'read-only' && access !== readAndWrite) return undefined;
  if (codeOf(thrown) === 'ENOSPC' && isOutOfInodes(folder)) return noInode(folder);
  if (kind === 'disk-full' || kind === 'input-output') return { kind };
  const [reason] = String((thrown as Error).message).split(', open ');
  const advice = ['EMFILE', 'ENFILE'].includes(String(codeOf(thrown)))
    ? 'raise the limit of open files (ulimit -n)'
    : 'check the folder and its file system';
  const message = `no file can be created in ${folder}: ${reason}; ${advice}`;
  return kind === 'read-only' ? readOnly(message) : cannotOpen(message);
}

/** Whether no file can be created. Some file systems do not count their inodes. */
function isOutOfInodes(folder: string): boolean {
  const { files, ffree } = statfsSync(folder);
  return files > 0 && ffree === 0;
}

const noInode = (folder: string): Fault => ({
  kind: 'disk-full',
  message: `no file can be created in ${folder}: the disk has no inode left; remove files that you do not need`,
});
