import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import { codeOf, failureOf, type Fault, openError, type OpenSqliteError } from './errors.ts';
import { absolutePath, findPathFault, resolveLinks } from './path.ts';

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

/**
 * Returns the error for an exception from SQLite or a system call, with the access that this user
 * lacks: SQLite's "unable to open" has many causes. Rethrows any other exception, which is a bug.
 */
export function explain(path: string, cause: unknown): OpenSqliteError {
  const kind = failureOf(cause);
  if (kind === undefined) throw cause;
  const mayBeDenied = kind === 'read-only' || kind === 'cannot-open';
  return openError(path, { kind, ...(mayBeDenied && findDenied(path)), cause });
}

/** Returns the first access to a path, its folder included, that this user does not have. */
export function findDenied(path: string): Fault | undefined {
  const folder = dirname(tryToResolve(path));
  const entered = accessError(`${folder}/.`, constants.X_OK);
  if (entered !== undefined) {
    const detail = `${folder}: ${entered}; make this folder, or let this user enter it`;
    return { kind: 'cannot-open', detail };
  }
  const read = accessError(path, constants.R_OK);
  if (read !== undefined && read !== 'ENOENT')
    return { kind: 'cannot-open', detail: `${read}; correct the path, or let this user read it` };
  const written = read === undefined ? accessError(path, constants.W_OK) : undefined;
  if (written !== undefined) return { kind: 'read-only', detail: written };
  const beside = accessError(folder, constants.W_OK);
  return beside === undefined ? undefined : { kind: 'read-only', detail: `${folder}: ${beside}` };
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
    accessSync(path, mode);
    return undefined;
  } catch (thrown) {
    return String(codeOf(thrown));
  }
}
