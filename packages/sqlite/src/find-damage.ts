import { constants } from 'node:fs';
import { Database } from './node-sqlite.ts';
import { openErrorOf, type OpenSqliteError } from './open-error.ts';
import { sqliteFailureOf } from './sqlite-failure.ts';
import { resolveLinks } from './wal-file.ts';

/** Time that a read waits for the WAL recovery of another program, in milliseconds. */
const timeout = 2_000;

export const openReader = (file: string): Database =>
  // VACUUM INTO repeats the statements of other programs, which may have text in double quotes.
  new Database(file, { readOnly: true, timeout, enableDoubleQuotedStringLiterals: true });

/** Counts the plants of an intact file. */
export const countPlants = (database: Database): number =>
  Number(database.prepare('SELECT count(*) AS plants FROM plants').get()?.['plants']);

/** SQLITE_IOERR. */
const inputOutput = 10;

const inputOutputError = (cause: unknown): Error =>
  Object.assign(new Error('disk I/O error', { cause }), { errcode: inputOutput });

/** Whether a line of `integrity_check` reports an I/O error (btree.c), and not damage. */
const isInputOutput = (line: string): boolean => {
  const [text, code] =
    /unable to get the page\. error code=(\d+)|failed to get page/.exec(line) ?? [];
  // The low byte of an extended result code is the primary one.
  return text !== undefined && (code === undefined || (Number(code) & 0xff) === inputOutput);
};

/** Runs `integrity_check`, and returns its lines up to the first error; none for an intact file. */
const integrityFaults = (database: Database): string[] => {
  const lines: string[] = [];
  try {
    for (const row of database.prepare('PRAGMA integrity_check').iterate()) {
      lines.push(...String(row['integrity_check']).split('\n'));
    }
  } catch (thrown) {
    if (!(thrown instanceof Error) || sqliteFailureOf(thrown) !== 'damaged') throw thrown;
    lines.push(thrown.message);
  }
  return lines.filter((line) => line !== 'ok');
};

/**
 * Returns the output of `integrity_check`, at most 100 lines; none for an intact file. Throws the exceptions of
 * node:sqlite. When a read fails with EIO, SQLite reports damage (SQLITE_IOERR_CORRUPTFS becomes SQLITE_CORRUPT), or
 * a page that it could not get: damage that a second connection does not find was an I/O error.
 *
 * @param file path of the database, with symbolic links resolved
 */
export const findDamage = (database: Database, file: string): readonly string[] => {
  const found = integrityFaults(database);
  if (found.length === 0) return found;
  const second = openReader(file);
  let again: readonly string[];
  try {
    again = integrityFaults(second);
  } finally {
    second.close();
  }
  const unread = [...found, ...again].find(isInputOutput);
  if (unread !== undefined || again.length === 0) throw inputOutputError(unread ?? found);
  return again;
};

/**
 * Returns the error for an exception while a database is read, as `openErrorOf` does. Calls it damaged only if `findDamage` confirms it.
 *
 * @param path path in the error
 * @param file path of the database
 */
export const readErrorOf = (
  path: string,
  thrown: unknown,
  database: Database,
  file = resolveLinks(path),
): OpenSqliteError => {
  let cause = thrown;
  try {
    if (sqliteFailureOf(thrown) === 'damaged' && findDamage(database, file).length === 0)
      cause = inputOutputError(thrown);
  } catch (unread) {
    if (sqliteFailureOf(unread) === 'input-output') cause = inputOutputError(thrown);
  }
  return openErrorOf(path, cause, constants.R_OK);
};
