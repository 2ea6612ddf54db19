import { constants, existsSync } from 'node:fs';
import { err, ok, type Result } from 'neverthrow';
import { Database } from '../open/connection.ts';
import { failureOf, type Fault, openError, type OpenSqliteError } from '../open/errors.ts';
import { explain, findTypeFault } from '../open/path-faults.ts';
import { findOtherPath, resolveLinks, walSize } from '../open/path.ts';
import { findUnreadable, isTruncated } from '../open/table.ts';
import { findWalOfAnotherFile } from '../open/wal.ts';

/** Opens a database file read-only, whether or not a repository has it open. */
export function openForReading(path: string): Result<Database, OpenSqliteError> {
  let database: Database | undefined;
  let error: OpenSqliteError;
  try {
    const file = resolveLinks(path);
    if (!existsSync(file)) return err(openError(path, { kind: 'missing' }));
    // SQLite would apply or remove the WAL of another file.
    const unopened = findTypeFault(file) ?? findWalOfAnotherFile(file);
    if (unopened !== undefined) return err(openError(path, unopened));
    database = openReader(file);
    const fault = findFault(database, file);
    if (fault === undefined) return ok(database);
    error = openError(path, fault);
  } catch (thrown) {
    error = database ? readErrorOf(path, thrown, database) : explain(path, thrown, constants.R_OK);
  }
  database?.close();
  return err(error);
}

export function openReader(file: string): Database {
  // VACUUM INTO repeats the statements of other programs, which may have text in double quotes.
  return new Database(file, { readOnly: true, timeout, enableDoubleQuotedStringLiterals: true });
}

/**
 * Returns the output of `integrity_check`, at most 100 lines; none for an intact file. Throws the
 * exceptions of node:sqlite. Damage that a second connection does not find was an I/O error.
 */
export function findDamage(database: Database, file: string): readonly string[] {
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
}

/** Returns the error as `explain` does, and `damaged` only if `findDamage` confirms it. */
export function readErrorOf(
  path: string,
  thrown: unknown,
  database: Database,
  file = resolveLinks(path),
): OpenSqliteError {
  let cause = thrown;
  try {
    if (failureOf(thrown) === 'damaged' && findDamage(database, file).length === 0)
      cause = inputOutputError(thrown);
  } catch (unread) {
    if (failureOf(unread) === 'input-output') cause = inputOutputError(thrown);
  }
  return explain(path, cause, constants.R_OK);
}

export const countSql = 'SELECT count(*) FROM plants';

/** Time that a read waits for the WAL recovery of another program, in milliseconds. */
const timeout = 2_000;

function findFault(database: Database, file: string): Fault | undefined {
  // A backup is not in WAL mode, and is complete under each path.
  const otherPath =
    database.read('PRAGMA journal_mode') === 'wal' ? findOtherPath(file) : undefined;
  if (otherPath !== undefined) return otherPath;
  // An owner may start to write between the two checks of the WAL file.
  const isDamaged = walSize(file) === 0 && isTruncated(database, file) && walSize(file) === 0;
  return isDamaged ? { kind: 'damaged' } : findUnreadable(database);
}

/** Runs `integrity_check`, and returns its lines up to the first error; none for an intact file. */
function integrityFaults(database: Database): string[] {
  const lines: string[] = [];
  try {
    for (const row of database.prepare('PRAGMA integrity_check').iterate())
      lines.push(...String(row['integrity_check']).split('\n'));
  } catch (thrown) {
    if (!(thrown instanceof Error) || failureOf(thrown) !== 'damaged') throw thrown;
    lines.push(thrown.message);
  }
  return lines.filter((line) => line !== 'ok');
}

/** Whether a line of `integrity_check` reports an I/O error (btree.c), and not damage. */
function isInputOutput(line: string): boolean {
  const [text, code] =
    /unable to get the page\. error code=(\d+)|failed to get page/.exec(line) ?? [];
  // The low byte of an extended result code is the primary one.
  return text !== undefined && (code === undefined || (Number(code) & 0xff) === 10);
}

function inputOutputError(cause: unknown): Error {
  return Object.assign(new Error('disk I/O error', { cause }), { errcode: 10 });
}
