import { existsSync } from 'node:fs';
import { err, ok, type Result } from 'neverthrow';
import { explain } from '../open/access.ts';
import { Database } from '../open/connection.ts';
import { failureOf, type Fault, openError, type OpenSqliteError } from '../open/errors.ts';
import { findPathFault, resolveLinks } from '../open/path.ts';
import { findUnreadable, isTruncated } from '../open/table.ts';
import { findWalOfAnotherFile, keptDescriptorOf, walSize } from '../open/wal.ts';

/** Opens a database file read-only, whether or not a repository has it open. */
export function openForReading(path: string): Result<Database, OpenSqliteError> {
  let database: Database | undefined;
  try {
    const file = resolveLinks(path);
    const unopened: Fault | undefined = existsSync(file) ? findUnopened(file) : { kind: 'missing' };
    if (unopened !== undefined) return err(openError(path, unopened));
    database = openReader(file);
    const fault = findFault(database, file);
    if (fault === undefined) return ok(database);
    database.close();
    return err(openError(path, fault));
  } catch (thrown) {
    database?.close();
    return err(explain(path, thrown));
  }
}

export function openReader(file: string): Database {
  // VACUUM INTO repeats the statements of other programs, which may have text in double quotes.
  return new Database(file, { readOnly: true, timeout, enableDoubleQuotedStringLiterals: true });
}

/**
 * Returns the output of `integrity_check`, at most 100 lines; none for an intact file. Throws the
 * exceptions of node:sqlite, also for a page that the disk cannot read.
 */
export function findDamage(database: Database): readonly string[] {
  const lines: string[] = [];
  try {
    for (const row of database.prepare('PRAGMA integrity_check').iterate())
      lines.push(...String(row['integrity_check']).split('\n'));
  } catch (thrown) {
    if (!(thrown instanceof Error) || failureOf(thrown) !== 'damaged') throw thrown;
    lines.push(thrown.message);
  }
  // The words of btree.c for an I/O error, whose extended codes have the low byte 10.
  const isUnread = (line: string) => {
    const [found, code] =
      /unable to get the page\. error code=(\d+)|failed to get page/.exec(line) ?? [];
    return found !== undefined && (Number(code ?? 10) & 0xff) === 10;
  };
  if (!lines.some(isUnread)) return lines.filter((line) => line !== 'ok');
  throw Object.assign(new Error('disk I/O error', { cause: lines }), { errcode: 10 });
}

export const countSql = 'SELECT count(*) FROM plants';

/** Time that a read waits for the WAL recovery of another program, in milliseconds. */
const timeout = 2_000;

/** Returns why a file must not be opened by SQLite, which would apply the WAL of another file. */
function findUnopened(file: string): Fault | undefined {
  const fault = findPathFault(file);
  // A backup is complete under each path.
  if (fault?.kind === 'cannot-open') return fault;
  return walSize(file) > 0 ? findWalOfAnotherFile(file, keptDescriptorOf(file)) : undefined;
}

function findFault(database: Database, file: string): Fault | undefined {
  const isInWalMode = database.read('PRAGMA journal_mode') === 'wal';
  const otherPath = isInWalMode ? findPathFault(file) : undefined;
  if (otherPath !== undefined) return otherPath;
  // An owner may start to write between the two checks of the WAL file.
  const isDamaged = walSize(file) === 0 && isTruncated(database, file) && walSize(file) === 0;
  return isDamaged ? { kind: 'damaged' } : findUnreadable(database);
}
