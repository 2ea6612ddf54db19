import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  statSync,
} from 'node:fs';
import { err, ok, type Result } from 'neverthrow';
import { Database } from './connection.ts';
import { failureOf, type Fault, openError, type OpenSqliteError } from './errors.ts';
import * as faults from './faults.ts';
import { acquireOwnerLock, lockTimeoutMs } from './owner-lock.ts';
import { attempt, identify, identityOf, resolveLinks } from './path.ts';
import { Rewriter } from './rewriter.ts';
import { findAlteration, migrate } from './table.ts';
import { isInWalMode, syncWal, walHeaderSize, walSize } from './wal.ts';

/** A database file that is or was open. */
export type OpenedFile = {
  readonly path: string;
  /** The path with symbolic links resolved. */
  readonly name: string;
  readonly identity: string;
};

/** A command to open a file: one that may be new, or the same file again. */
export type Opening = CreateCommand | OwnCommand;

type CreateCommand = { readonly kind: 'create'; readonly path: string };

type OwnCommand = {
  readonly kind: 'own';
  readonly path: string;
  readonly before: OpenedFile;
  /** Whether a sync failed in this process, so that the WAL file must be rewritten. */
  readonly mustRewrite: boolean;
};

/**
 * Opens a database file as its only owner, and creates or migrates its schema. After an error,
 * nothing is open, and the file of another program is unchanged.
 */
export function openAsOwner(opening: Opening): Result<OwnedDatabase, OpenSqliteError> {
  const { path } = opening;
  try {
    const name = opening.kind === 'own' ? opening.before.name : resolveLinks(path);
    const fault = findOtherFile(opening) ?? faults.findPathFault(name);
    if (fault !== undefined) return err(openError(path, fault));
    return acquireOwnerLock(path, name).andThen((lock) => openLocked(opening, name, lock));
  } catch (thrown) {
    return err(faults.explain(path, thrown));
  }
}

/** Returns a fault if the path of an earlier file leads to another one. */
function findOtherFile(opening: Opening): Fault | undefined {
  return opening.kind === 'own' ? findReplaced(opening.before) : undefined;
}

/** Returns a fault if an opened file has lost its path. Throws if that cannot be examined. */
export function findReplaced({ path, name, identity }: OpenedFile): Fault | undefined {
  // A link in the place of the file may lead to it, but not to its WAL file.
  const isThere = identityOf(name, lstatSync) === identity;
  if (isThere && (path === name || identityOf(path) === identity)) return undefined;
  return { kind: 'replaced', detail: name };
}

/** Time that a commit waits for a write lock, in milliseconds. */
const busyTimeoutMs = 2_000;

/** The connection of the only owner of a file, which other programs can read. */
export class OwnedDatabase extends Database {
  readonly file: OpenedFile;
  /** The schema cookie (PRAGMA schema_version), read before the table was checked. */
  schemaCookie: unknown;
  readonly #descriptor: number;
  readonly #ownerLock: Database;
  readonly #rewriter = new Rewriter();
  #walKeeper: Database | undefined;

  /** @param owned a descriptor of the file, and the connection that holds the owner lock */
  constructor(path: string, name: string, owned: { descriptor: number; lock: Database }) {
    super(name, { timeout: lockTimeoutMs });
    this.#descriptor = owned.descriptor;
    this.#ownerLock = owned.lock;
    this.file = { path, name, identity: identify(fstatSync(owned.descriptor, { bigint: true })) };
  }

  /** Whether the file is beside its WAL file. Else, SQLite runs no checkpoint when it is closed. */
  isBesideWal(): boolean {
    return identityOf(this.file.name) === this.file.identity;
  }

  /** Whether the file has another name, and no other file has the old one. */
  isRenamed(): boolean {
    return identityOf(this.file.name) === undefined && fstatSync(this.#descriptor).nlink > 0;
  }

  /** Whether a backup was copied over the file: nothing else changes its mode. */
  isOverwritten(): boolean {
    return !isInWalMode(this.#descriptor);
  }

  /**
   * Runs a task with an exclusive lock on the file. Returns a fault if another connection has it
   * open; throws the exceptions of the task.
   */
  withExclusiveLock(task: () => void): Fault | undefined {
    // In exclusive locking mode, the lock is kept after the transaction.
    this.exec('PRAGMA locking_mode = EXCLUSIVE');
    try {
      this.exec('BEGIN EXCLUSIVE; ROLLBACK');
      task();
      return undefined;
    } catch (cause) {
      if (failureOf(cause) !== 'locked') throw cause;
      return { kind: 'locked', cause };
    } finally {
      this.exec('PRAGMA locking_mode = NORMAL');
      // The next read returns the connection to a shared lock.
      this.exec('SELECT count(*) FROM sqlite_schema');
    }
  }

  /** Rewrites the WAL file, while no other connection can write to it. */
  rewriteWal(): void {
    this.#rewriter.rewrite(`${this.file.name}-wal`, 0);
  }

  /** Rewrites pages of a failed checkpoint at the end of the file, with an exclusive lock on it. */
  rewriteTail(): void {
    const { name } = this.file;
    const wal = walSize(name) ?? 0;
    // Of a WAL file that was removed, the size is unknown.
    const from = wal === 0 ? 0 : Math.max(0, statSync(name).size - wal);
    this.#rewriter.rewrite(name, from);
  }

  /** Rewrites and syncs the file, with an exclusive lock on it. */
  rewriteFile(): void {
    this.#rewriter.rewrite(this.file.name, 0);
    fsyncSync(this.#descriptor);
  }

  /**
   * Makes `close` leave the WAL file: the last connection is read-only, and runs no checkpoint.
   * Throws if the file cannot be opened.
   */
  keepWal(): void {
    try {
      this.#walKeeper ??= new Database(this.file.name, { readOnly: true });
      // From its first read on, the connection has a lock that prevents the other's checkpoint.
      this.#walKeeper.exec('SELECT count(*) FROM sqlite_schema');
    } catch (thrown) {
      // A read that fails has the lock.
      if (failureOf(thrown) === 'cannot-open') throw thrown;
    }
  }

  /** Makes `close` run a checkpoint again, and remove the WAL file. */
  releaseWal(): void {
    this.#walKeeper?.close();
    this.#walKeeper = undefined;
  }

  /**
   * Closes the descriptors after the connections, because that releases the locks of these. Never
   * throws: the file system may have gone.
   */
  override close(): void {
    attempt(() => super.close());
    attempt(() => this.releaseWal());
    attempt(() => this.#rewriter.close());
    attempt(() => closeSync(this.#descriptor));
    attempt(() => this.#ownerLock.close());
  }
}

/** Opens a file whose owner lock is acquired. */
function openLocked(
  opening: Opening,
  name: string,
  lock: Database,
): Result<OwnedDatabase, OpenSqliteError> {
  const { path } = opening;
  const hadWal = (walSize(name) ?? 0) > walHeaderSize;
  let descriptor: number | undefined;
  let database: OwnedDatabase | undefined;
  let isOpen = false;
  try {
    descriptor = existsSync(name) ? openSync(name, 'r') : undefined;
    // SQLite would copy the pages of another file's WAL into the database file.
    const unopened = faults.findWalOfAnotherFile(name, descriptor) ?? faults.findFullDisk(name);
    if (unopened !== undefined) return err(openError(path, unopened));
    // Like SQLite. A file that was there before is not made again.
    descriptor ??= openSync(name, opening.kind === 'create' ? constants.O_CREAT : 'r', 0o644);
    database = new OwnedDatabase(path, name, { descriptor, lock });
    const unusable = prepareFile(database, opening, hadWal);
    const fault = unusable ?? findOtherFile(opening) ?? findReplaced(database.file);
    isOpen = fault === undefined;
    return fault === undefined ? ok(database) : err(openError(path, fault));
  } catch (thrown) {
    // After a checkpoint of pages that could not be rewritten, a power cut would lose them.
    if (hadWal) attempt(() => database?.keepWal());
    throw thrown;
  } finally {
    const opened = descriptor;
    if (!isOpen) attempt(() => (database ?? lock).close());
    if (database === undefined && opened !== undefined) attempt(() => closeSync(opened));
  }
}

function prepareFile(
  database: OwnedDatabase,
  opening: Opening,
  hadWal: boolean,
): Fault | undefined {
  const { name } = database.file;
  const isNew = statSync(name).size === 0;
  // Runs WAL recovery, in normal locking mode, so that other programs can share the file.
  database.exec('SELECT count(*) FROM sqlite_schema');
  const notDurable = hadWal ? makeDurable(database, opening) : undefined;
  const unusable = notDurable ?? faults.findContentFault(database, name, opening.kind);
  if (unusable !== undefined) return unusable;
  // FULL syncs the WAL file after each commit; with NORMAL a power cut loses acknowledged plants.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  // SQLite's own checkpoints report no failure: the end of the file would not be rewritten.
  database.exec('PRAGMA wal_autocheckpoint = 0');
  migrate(database);
  database.schemaCookie = database.read('PRAGMA schema_version');
  const altered = findAlteration(database);
  // An altered table is unchanged.
  database.exec(altered === undefined ? 'COMMIT' : 'ROLLBACK');
  if (altered !== undefined) return altered;
  syncWal(name);
  // A file that loses its WAL file has its table.
  if (isNew) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  return undefined;
}

/**
 * Rewrites commits that SQLite recovered from the WAL file, and pages of a failed checkpoint: they
 * may exist only in the page cache. The caller syncs the WAL file.
 */
function makeDurable(database: OwnedDatabase, opening: Opening): Fault | undefined {
  const busy = database.withExclusiveLock(() => {
    database.rewriteWal();
    database.rewriteTail();
    syncWal(database.file.name);
  });
  if (busy === undefined || (opening.kind === 'own' && opening.mustRewrite)) return busy;
  // Other programs can still read and run checkpoints, but not write to the WAL file.
  database.exec('BEGIN IMMEDIATE');
  try {
    database.rewriteWal();
  } finally {
    database.exec('ROLLBACK');
  }
  return undefined;
}
