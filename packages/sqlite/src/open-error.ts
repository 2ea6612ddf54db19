import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { schemaVersion, type UnusableFile } from './database-file.ts';
import { fateOf, type KeptFile } from './kept-file.ts';
import { OwnerLockFailure } from './owner-lock.ts';
import { sqliteFailureOf, type SqliteFailure } from './sqlite-failure.ts';
import { resolveLinks } from './wal-file.ts';

/** Reason why a database file could not be opened. */
export type OpenSqliteError = {
  /** Identifies the error; `message` has the details. */
  readonly kind:
    | 'locked'
    | 'read-only'
    | 'input-output'
    | 'damaged'
    | 'disk-full'
    | 'cannot-open'
    | 'mount-point'
    | 'missing'
    | 'empty'
    | 'hard-links'
    | 'no-shared-memory'
    | 'not-a-database'
    | 'replaced'
    | 'wal-of-another-file'
    | 'schema-newer'
    | 'not-a-plant-store'
    | 'table-altered'
    | 'unexpected';
  /** The file, as an absolute path. */
  readonly path: string;
  /** Message for the operator: what happened, then what to do. */
  readonly message: string;
  /** The exception from node:sqlite, if there was one. */
  readonly cause?: unknown;
};

const readAndWrite = constants.R_OK | constants.W_OK;

type Description = Pick<OpenSqliteError, 'kind' | 'message'>;

/** Returns the code of the error of access(2), if there is one. */
const accessError = (path: string, mode: number): string | undefined => {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code;
  }
};

const cannotOpen = (message: string): Description => ({ kind: 'cannot-open', message });
const readOnly = (message: string): Description => ({ kind: 'read-only', message });

/** Returns the cause in the file system: SQLite's "unable to open" and "disk I/O error" have many causes. */
export const findFileSystemFault = (
  linkedPath: string,
  access: number = readAndWrite,
): Description | undefined => {
  let path = linkedPath;
  try {
    path = resolveLinks(linkedPath);
  } catch {
    // A folder that this user may not enter, for example.
  }
  const folder = dirname(path);
  const mayWrite = access === readAndWrite;
  const folderError = accessError(`${folder}/.`, constants.X_OK);
  if (folderError === 'EACCES' || folderError === 'EPERM')
    return cannotOpen(`this user may not enter the folder ${folder}; grant it access`);
  if (folderError !== undefined)
    return cannotOpen(`the folder ${folder} does not exist; make it first`);
  const exists = accessError(path, constants.F_OK) === undefined;
  const found = exists ? statSync(path, { throwIfNoEntry: false }) : undefined;
  if (found?.isDirectory() === true)
    return cannotOpen(`${path} is a folder, not a file; name a file in it`);
  if (found?.isFile() === false)
    return cannotOpen(`${path} is a device or a pipe, not a file; name another file`);
  if (found !== undefined && accessError(path, access) !== undefined)
    return mayWrite
      ? readOnly(`${path} cannot be written to; grant this user write access`)
      : cannotOpen(`this user may not read ${path}; grant it read access`);
  if (accessError(folder, constants.W_OK) === undefined) return undefined;
  return readOnly(
    mayWrite
      ? `the folder ${folder} cannot be written to; SQLite creates files beside ${path}: grant this user write access`
      : `the folder ${folder} cannot be written to; SQLite creates files beside ${path} to read it: copy it to another folder, with its -wal file if there is one, and read the copy`,
  );
};

/** SQLITE_READONLY_ROLLBACK. */
const readOnlyRollback = 776;

const describe = (path: string, failure: SqliteFailure, cause?: unknown): string => {
  const reason = cause instanceof Error ? `: ${cause.message}` : '';
  switch (failure) {
    case 'locked':
      return `${path} is in use, by another process or by this one; only one repository can have it open: stop the server first, or close the other repository`;
    case 'read-only':
      if (cause instanceof Error && 'errcode' in cause && cause.errcode === readOnlyRollback) {
        return `${path} has a rollback journal of a program that was killed, and a read cannot roll it back; start the server once, or open a copy of both files with sqlite3`;
      }
      return `${path} cannot be written to; grant this user write access`;
    case 'cannot-open':
      return `${path} cannot be opened${reason}`;
    case 'input-output':
      return `${path} cannot be read or written: the disk reports an error or is full, or a quota is exceeded; check each`;
    case 'damaged':
      return `${path} is damaged, or its disk cannot read it; check the disk, and check a copy of the file before you restore a backup`;
    case 'disk-full':
      return `the disk that contains ${path} is full, or a quota is exceeded; free some space`;
    case 'not-a-database':
      return `${path} is not a SQLite database; name another file`;
    case 'no-shared-memory':
      return `${path} is in a folder where processes cannot share memory, such as a network file system; move it to a local disk`;
    case 'unexpected':
      return `${path} cannot be used as a plant store${reason}`;
  }
};

/** Returns the error for an exception from SQLite or a system call. Rethrows any other exception, which is a bug. */
export const openErrorOf = (
  path: string,
  cause: unknown,
  access: number = readAndWrite,
): OpenSqliteError => {
  const isOfOwnerLock = cause instanceof OwnerLockFailure;
  const failure = sqliteFailureOf(isOfOwnerLock ? cause.cause : cause);
  if (failure === undefined) throw cause;
  // Reading a file that is complete without a WAL file needs no write access.
  const mayBeOfPath = failure !== 'input-output' || access === readAndWrite;
  const isOfPath = ['read-only', 'cannot-open', 'input-output'].includes(failure) && mayBeOfPath;
  const fault = isOfPath ? findFileSystemFault(path, access) : undefined;
  if (!isOfOwnerLock)
    return { kind: failure, message: describe(path, failure, cause), ...fault, path, cause };
  const kind = failure === 'not-a-database' ? 'cannot-open' : failure;
  const message = `${cause.message}: grant this user write access, or remove it while no process has ${path} open`;
  return { kind, message, ...fault, path, cause: cause.cause };
};

const describeUnusable = (path: string, unusable: UnusableFile): string => {
  switch (unusable.kind) {
    case 'missing':
      return `${path} does not exist; correct the path`;
    case 'cannot-open':
    case 'damaged':
      return describe(path, unusable.kind);
    case 'empty':
      return `${path} is empty and has no table of plants; name another file`;
    case 'hard-links':
      return unusable.hasWal
        ? `${path} has several hard links; keep this one, because the newest plants are in ${path}-wal, and remove the others (find / -samefile lists them)`
        : `${path} has several hard links, and the newest plants may be in a -wal file beside another one; keep the one whose -wal file is not empty, else ${path}, and remove the others (find / -samefile lists them)`;
    case 'mount-point':
      return `${path} is mounted alone, and SQLite keeps the latest plants in files beside it; mount its folder`;
    case 'schema-newer':
      return `${path} has schema version ${unusable.version}, made by a newer version of Plantstore; this version supports schema versions up to ${schemaVersion}: upgrade it`;
    case 'wal-of-another-file':
      return `${unusable.wal} has plants, but ${path} is missing, empty, incomplete or a copy from another time, and opening both would lose plants; put the file back that was beside it, or move both to another folder, keep them, and restore a backup`;
    case 'not-a-plant-store':
      return `${path} is the database of another application; name another file`;
    case 'table-altered':
      if (unusable.isReadable === false)
        return `another program altered or removed the table plants of ${path}, which does not have the columns of a plant; copy the plants with sqlite3, or restore a backup`;
      return unusable.by === undefined
        ? `another program altered the table plants of ${path}, or removed it; export the plants, and import them into a new file`
        : `${path} has the trigger or unique index "${unusable.by}" on its table plants, which can change what is stored; drop it`;
  }
};

export const unusableFileError = (path: string, unusable: UnusableFile): OpenSqliteError => {
  const fault =
    unusable.kind === 'cannot-open' ? findFileSystemFault(path, readAndWrite) : undefined;
  return { kind: unusable.kind, message: describeUnusable(path, unusable), ...fault, path };
};

const describeReplaced = (kept: KeptFile): string | undefined => {
  const fate = fateOf(kept);
  const { path, name } = kept;
  switch (fate.kind) {
    case 'unchanged':
      return undefined;
    case 'relinked':
      return `${path} leads to another file than when it was opened; the plants are in ${name}: make ${path} lead to it again`;
    case 'renamed':
      return `${path} was renamed${fate.to === undefined ? '' : ` to ${fate.to}`} while it was in use; move it back, with the files beside it that were moved, too`;
    case 'replaced':
      return fate.to === undefined
        ? `another file took the place of ${path} while it was in use, and the newest plants are in ${name}-wal; stop the server, and copy both files to another folder before you start it again`
        : `another file took the place of ${path} while it was in use; the plants are in ${fate.to}, and the newest ones in the -wal file that was beside it: stop the server, move the other file away, and move ${fate.to} back`;
    case 'removed':
      return `${path} was removed while it was in use, and the newest plants are in ${name}-wal; keep that file, and put the removed file back, or restore a backup to another path`;
  }
};

/** Returns the error for a file that does not have its path any more; `undefined` while it has. */
export const findReplaced = (kept: KeptFile): OpenSqliteError | undefined => {
  const message = describeReplaced(kept);
  return message === undefined ? undefined : { kind: 'replaced', path: kept.path, message };
};
