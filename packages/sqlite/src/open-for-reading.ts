import { constants, statSync } from 'node:fs';
import { err, ok, type Result } from 'neverthrow';
import { isCutShort, hasItsTable, unusableBecause, type UnusableFile } from './database-file.ts';
import { hasForeignLog } from './foreign-log.ts';
import { logSize, withoutLinks } from './log-file.ts';
import { Database } from './node-sqlite.ts';
import { openErrorOf, type OpenSqliteError, unusableFileError } from './open-error.ts';

/** How long a read waits for a program that recovers the log, in milliseconds. */
const busyTimeoutMs = 2_000;

const unusableForReading = (database: Database, file: string): UnusableFile | undefined => {
  const unusable = unusableBecause(database, { mayBeNew: false });
  // It is empty: a file that is only read is not replaced by a new one.
  if (unusable?.kind === 'replaced') return { kind: 'not-a-plant-store' };
  if (unusable !== undefined) return unusable;
  // An owner may begin to write meanwhile.
  const isCut = logSize(file) === 0 && isCutShort(database, file) && logSize(file) === 0;
  return isCut || !hasItsTable(database) ? { kind: 'damaged' } : undefined;
};

const open = (path: string): Database | UnusableFile => {
  const file = withoutLinks(path);
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return { kind: 'missing' };
  if (!found.isFile()) return { kind: 'cannot-open' };
  if (hasForeignLog(file)) return { kind: 'log-of-another-file', log: `${file}-wal` };
  const database = new Database(file, { readOnly: true });
  try {
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    const unusable = unusableForReading(database, file);
    if (unusable === undefined) return database;
    database.close();
    return unusable;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
};

/** Opens a plant store's file to read it, whether or not it has an owner. Writes nothing. */
export const openForReading = (path: string): Result<Database, OpenSqliteError> => {
  try {
    const database = open(path);
    return 'kind' in database ? err(unusableFileError(path, database)) : ok(database);
  } catch (thrown) {
    const error = openErrorOf(path, thrown, constants.R_OK);
    if (error === undefined) throw thrown;
    return err(error);
  }
};
