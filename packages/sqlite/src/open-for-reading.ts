import { constants, statSync } from 'node:fs';
import { err, ok, type Result } from 'neverthrow';
import {
  findOtherPath,
  findUnusable,
  hasPlantColumns,
  isTruncated,
  type UnusableFile,
} from './database-file.ts';
import { openReader, readErrorOf } from './find-damage.ts';
import { hasForeignWal } from './foreign-wal.ts';
import type { Database } from './node-sqlite.ts';
import { openErrorOf, type OpenSqliteError, unusableFileError } from './open-error.ts';
import { walSize, resolveLinks } from './wal-file.ts';

const unusableForReading = (database: Database, file: string): UnusableFile | undefined => {
  // A backup is not in WAL mode, and is complete under each path.
  const mode = database.prepare('PRAGMA journal_mode').get()?.['journal_mode'];
  const otherPath = mode === 'wal' ? findOtherPath(file) : undefined;
  if (otherPath !== undefined) return otherPath;
  const unusable = findUnusable(database, false);
  if (unusable !== undefined) return unusable;
  // An owner may start to write between the two checks of the WAL file.
  const isDamaged = walSize(file) === 0 && isTruncated(database, file) && walSize(file) === 0;
  if (isDamaged) return { kind: 'damaged' };
  return hasPlantColumns(database) ? undefined : { kind: 'table-altered', isReadable: false };
};

/** Returns why a file must not be opened to be read: SQLite would apply or remove its WAL. */
const unusableUnread = (file: string): UnusableFile | undefined => {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return { kind: 'missing' };
  if (!found.isFile()) return { kind: 'cannot-open' };
  return hasForeignWal(file) ? { kind: 'wal-of-another-file', wal: `${file}-wal` } : undefined;
};

/** Opens a database file read-only, whether or not a repository has it open. */
export const openForReading = (path: string): Result<Database, OpenSqliteError> => {
  let database: Database | undefined;
  let error: OpenSqliteError | undefined;
  try {
    const file = resolveLinks(path);
    const unread = unusableUnread(file);
    if (unread !== undefined) return err(unusableFileError(path, unread));
    database = openReader(file);
    const unusable = unusableForReading(database, file);
    if (unusable === undefined) return ok(database);
    error = unusableFileError(path, unusable);
  } catch (thrown) {
    error =
      database === undefined
        ? openErrorOf(path, thrown, constants.R_OK)
        : readErrorOf(path, thrown, database);
  }
  database?.close();
  return err(error);
};
