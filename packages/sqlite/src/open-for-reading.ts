import { constants, statSync } from 'node:fs';
import { err, ok, type Result } from 'neverthrow';
import { isTruncated, hasExpectedTable, findUnusable, type UnusableFile } from './database-file.ts';
import { hasForeignLog } from './foreign-log.ts';
import { logSize, resolveLinks } from './log-file.ts';
import { Database } from './node-sqlite.ts';
import { openErrorOf, type OpenSqliteError, unusableFileError } from './open-error.ts';

/** Time that a read waits for the WAL recovery of another program, in milliseconds. */
const busyTimeoutMs = 2_000;

const unusableForReading = (database: Database, file: string): UnusableFile | undefined => {
  const unusable = findUnusable(database, { mayBeNew: false });
  if (unusable !== undefined) return unusable;
  // An owner may start to write between the two checks of the WAL file.
  const isDamaged = logSize(file) === 0 && isTruncated(database, file) && logSize(file) === 0;
  return isDamaged || !hasExpectedTable(database) ? { kind: 'damaged' } : undefined;
};

const open = (path: string): Database | UnusableFile => {
  const file = resolveLinks(path);
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

/** Opens a database file read-only, whether or not a repository has it open. */
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
