import { resolve } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import { findOtherPath } from './database-file.ts';
import {
  findFileSystemFault,
  openErrorOf,
  type OpenSqliteError,
  unusableFileError,
} from './open-error.ts';
import { resolveLinks } from './wal-file.ts';

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
export const checkDatabasePath = (path: string): Result<void, OpenSqliteError> => {
  const file = resolve(path);
  const fault = findFileSystemFault(file);
  if (fault !== undefined) return err({ ...fault, path: file });
  try {
    const unusable = findOtherPath(resolveLinks(file));
    return unusable === undefined ? ok() : err(unusableFileError(file, unusable));
  } catch (cause) {
    return err(openErrorOf(file, cause));
  }
};
