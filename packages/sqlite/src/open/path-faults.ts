import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import { failureOf, type Fault, hasResultCode, openError, type OpenSqliteError } from './errors.ts';
import { absolutePath, codeOf, findOtherPath, resolveLinks } from './path.ts';

/**
 * Checks whether this user may create or write a database file at a path: its folder, its type, its links and its permissions. Opens and
 * creates no file, so it can run while a repository has the file open. It does not read the content.
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
 * open" and "disk I/O error" have many causes. Rethrows any other exception, which is a bug.
 */
export function explain(path: string, thrown: unknown, access = readAndWrite): OpenSqliteError {
  const kind = failureOf(thrown);
  if (kind === undefined) throw thrown;
  const fault = findCause(path, thrown, access);
  return openError(path, { ...(fault ?? { kind, ...describe(path, thrown) }), cause: thrown });
}

/** Returns the cause of an exception in the file system, if it is found. */
export function findCause(path: string, thrown: unknown, access = readAndWrite): Fault | undefined {
  const kind = failureOf(thrown);
  // Reading a file that is complete without a WAL file needs no write access.
  const mayBeOfPath = kind !== 'input-output' || access === readAndWrite;
  const isOfPath = kind === 'read-only' || kind === 'cannot-open' || kind === 'input-output';
  return isOfPath && mayBeOfPath ? findPathFault(path, access) : undefined;
}

/** Returns what is wrong with a path, without opening or creating a file. */
export function findPathFault(linkedPath: string, access = readAndWrite): Fault | undefined {
  const path = tryToResolve(linkedPath);
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
      ? { kind: 'read-only' }
      : cannotOpen(`this user may not read ${path}; grant it read access`);
  if (accessError(folder, constants.W_OK) === undefined) return undefined;
  return readOnly(
    mayWrite
      ? `the folder ${folder} cannot be written to; SQLite creates files beside ${path}: grant this user write access`
      : `the folder ${folder} cannot be written to; SQLite creates files beside ${path} to read it: copy it to another folder, with its -wal file if there is one, and read the copy`,
  );
}

const readAndWrite = constants.R_OK | constants.W_OK;

/** SQLITE_READONLY_ROLLBACK. */
const readOnlyRollback = 776;

const cannotOpen = (message: string): Fault => ({ kind: 'cannot-open', message });
const readOnly = (message: string): Fault => ({ kind: 'read-only', message });

/** Returns a message that says more than that of the kind of an exception. */
function describe(path: string, thrown: unknown): { readonly message?: string } {
  if (!hasResultCode(thrown, [readOnlyRollback])) return {};
  const message = `${path} has a rollback journal of a program that was killed, and a read cannot roll it back; start the server once, or open a copy of both files with sqlite3`;
  return { message };
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
function accessError(path: string, mode: number): unknown {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (thrown) {
    return codeOf(thrown);
  }
}
