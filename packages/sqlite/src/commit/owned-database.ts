import { closeSync } from 'node:fs';
import { err, ok, type Result } from 'neverthrow';
import { Database } from '../open/connection.ts';
import { failureOf, type Fault, openError, type OpenSqliteError } from '../open/errors.ts';
import { acquireOwnerLock, lockTimeoutMs } from '../open/owner-lock.ts';
import { findTypeFault } from '../open/path-faults.ts';
import { findOtherPath, resolveLinks, syncWal, walSize } from '../open/path.ts';
import { findAlteration, findUnusable, isTruncated, migrate } from '../open/table.ts';
import { findWalOfAnotherFile } from '../open/wal.ts';
import { rewriteTail, rewriteWal } from './rewrite.ts';

/** Expected state of a file that is opened. */
export type Expected = {
  readonly mayBeNew: boolean;
  /** Whether a sync failed in this process, so that the WAL file must be rewritten. */
  readonly mustRewrite: boolean;
};

/**
 * Opens a database file as its only owner, and creates or migrates its schema. Throws the exceptions
 * of node:sqlite. After an error, nothing is open, and the file of another program is unchanged.
 */
export function openAsOwner(path: string, data: Expected): Result<OwnedDatabase, OpenSqliteError> {
  const file = resolveLinks(path);
  const fault = findTypeFault(file) ?? findOtherPath(file);
  if (fault !== undefined) return err(openError(path, fault));
  const lock = acquireOwnerLock(path, file);
  if (lock.isErr()) return err(lock.error);
  const hadWal = walSize(file) > 0;
  let database: OwnedDatabase | undefined;
  let isOpen = false;
  try {
    // SQLite would copy its pages into the database file.
    const foreign = findWalOfAnotherFile(file);
    if (foreign !== undefined) return err(openError(path, foreign));
    database = new OwnedDatabase(file, lock.value);
    const unusable = prepareFile(database, file, hadWal, data);
    isOpen = unusable === undefined;
    return unusable === undefined ? ok(database) : err(openError(path, unusable));
  } catch (thrown) {
    // After a checkpoint of pages that could not be rewritten, a power cut would lose them.
    if (hadWal) database?.keepWal();
    throw thrown;
  } finally {
    if (!isOpen) (database ?? lock.value).close();
  }
}

/** The connection of the only owner of a file. Other programs can read the file. */
export class OwnedDatabase extends Database {
  readonly #file: string;
  readonly #ownerLock: Database;
  readonly #openFiles: number[] = [];
  #reader: Database | undefined;
  /** The schema cookie (PRAGMA schema_version), read before the table was checked. */
  schemaCookie: unknown;

  /** @param ownerLock connection that holds the owner lock; closed last */
  constructor(file: string, ownerLock: Database) {
    super(file, { timeout: lockTimeoutMs });
    this.#file = file;
    this.#ownerLock = ownerLock;
  }

  /**
   * Runs a task with an exclusive lock on the file, if no other connection has it open; else returns
   * the SQLITE_BUSY exception. The task may open the file, but not close it: that releases the locks.
   */
  withExclusiveLock(task: () => void): Error | undefined {
    // In exclusive locking mode, the lock is kept after the transaction.
    this.exec('PRAGMA locking_mode = EXCLUSIVE');
    try {
      this.exec('BEGIN EXCLUSIVE');
      this.exec('ROLLBACK');
      task();
      return undefined;
    } catch (thrown) {
      if (failureOf(thrown) !== 'locked') throw thrown;
      return thrown as Error;
    } finally {
      this.exec('PRAGMA locking_mode = NORMAL');
      // The next read returns the connection to a shared lock.
      this.exec('SELECT count(*) FROM sqlite_schema');
    }
  }

  /** Rewrites the end of the file. Closing its descriptors now would release the locks on it. */
  rewriteTail(): void {
    rewriteTail(this.#file, (descriptor) => this.#openFiles.push(descriptor));
  }

  /** Makes `close` leave the WAL file: the last connection is read-only, and runs no checkpoint. */
  keepWal(): void {
    try {
      this.#reader ??= new Database(this.#file, { readOnly: true });
      // From its first read on, the connection has a lock that prevents the checkpoint of the other one.
      this.#reader.exec('SELECT count(*) FROM sqlite_schema');
    } catch {
      // Nothing else can prevent the checkpoint.
    }
  }

  /** Makes `close` run a checkpoint again, and remove the WAL file. */
  releaseWal(): void {
    this.#reader?.close();
    this.#reader = undefined;
  }

  override close(): void {
    super.close();
    this.releaseWal();
    for (const descriptor of this.#openFiles) closeSync(descriptor);
    this.#ownerLock.close();
  }
}

/** Time that a commit waits for a write lock, in milliseconds. */
export const busyTimeoutMs = 2_000;

function prepareFile(
  database: OwnedDatabase,
  file: string,
  hadWal: boolean,
  { mayBeNew, mustRewrite }: Expected,
): Fault | undefined {
  // Runs WAL recovery, in normal locking mode, so that other programs can share the file.
  database.exec('SELECT count(*) FROM sqlite_schema');
  if (hadWal) makeWalDurable(database, file, mustRewrite);
  const unusable = findUnusable(database, mayBeNew);
  if (unusable !== undefined) return unusable;
  // With a WAL file, the last pages can be in it alone.
  if (!hadWal && isTruncated(database, file)) return { kind: 'damaged' };
  // FULL syncs the WAL file after each commit; with NORMAL a power cut loses acknowledged plants.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  migrate(database);
  database.schemaCookie = database.read('PRAGMA schema_version');
  const altered = findAlteration(database);
  // An altered table is unchanged.
  database.exec(altered === undefined ? 'COMMIT' : 'ROLLBACK');
  if (altered !== undefined) return altered;
  syncWal(file);
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  return undefined;
}

/** Syncs commits that SQLite recovered from the WAL file: they may exist only in the page cache. */
function makeWalDurable(database: OwnedDatabase, file: string, requireExclusive: boolean): void {
  const busy = database.withExclusiveLock(() => {
    rewriteWal(file);
    database.rewriteTail();
    syncWal(file);
  });
  if (busy === undefined) return;
  if (requireExclusive) throw busy;
  // Other programs can still read and run checkpoints, but not write to the WAL file. The caller syncs it.
  database.exec('BEGIN IMMEDIATE');
  try {
    rewriteWal(file);
  } finally {
    database.exec('ROLLBACK');
  }
}
