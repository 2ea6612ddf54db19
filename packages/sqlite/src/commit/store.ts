import { err, ok, type Result } from 'neverthrow';
import type { Batch } from '../open/columns.ts';
import { Database } from '../open/connection.ts';
import { failureOf, type Fault, openError, type OpenSqliteError } from '../open/errors.ts';
import { explain, findFullDisk } from '../open/faults.ts';
import { findReplaced, openAsOwner } from '../open/owned-database.ts';
import type { OpenedFile, Opening, OwnedDatabase } from '../open/owned-database.ts';
import { ownerLockPathOf } from '../open/owner-lock.ts';
import { attempt, identityOf } from '../open/path.ts';
import { Statements } from '../open/statements.ts';
import { Checkpoints } from './checkpoints.ts';
import type { FromWorker, NotCommitted } from './owner.ts';

/** Opens a file as its owner, to create plants in it. */
export function openStore(opening: Opening): Result<Store, OpenSqliteError> {
  return openAsOwner(opening).andThen((database) => {
    try {
      return ok(new Store(database));
    } catch (thrown) {
      database.close();
      return err(explain(opening.path, thrown));
    }
  });
}

/**
 * An open database. Looks before and after each commit for what was done to its files:
 *
 * | what was done | before a commit | after it | then |
 * | --- | --- | --- | --- |
 * | the disk is full | refused | – | heals once there is space |
 * | the file was removed, renamed or replaced | failed | failed | heals once it is back |
 * | the file was overwritten by a backup | refused | refused | until a start |
 * | the WAL file was emptied or shortened | refused, unless SQLite did it | – | until a start |
 * | a file beside it was removed or replaced | refused, then failed | refused | heals if alone |
 * | a path cannot be examined | refused | refused | heals once it can |
 *
 * Before it, because a commit overwrites the WAL file after a checkpoint, which a copy in the place
 * of the file may need, and lengthens a WAL file that was shortened. After a failed commit, the
 * thread closes the file, and a next one opens it.
 */
export class Store {
  readonly file: OpenedFile;
  readonly #database: OwnedDatabase;
  readonly #statements: Statements;
  readonly #checkpoints: Checkpoints;
  readonly #wal: string;
  readonly #shm: string;
  /** Identities of the files beside it: one WAL file with the latest plants, and two with locks. */
  readonly #companions: ReadonlyMap<string, string | undefined>;
  /**
   * The failure of a checkpoint, or of a commit while one of these files was gone. The next batch
   * reports it: the plants of the commit before a checkpoint are on the disk.
   */
  #failure: NotCommitted | undefined;
  /** The file of these that was last found removed or replaced, also if it is back. */
  #lastGone: string | undefined;
  /** The ids of the last batch that has plants. */
  #lastIds: Batch[0] = new BigInt64Array();
  /** Final, because a checkpoint of another program could hide it. */
  #isOverwritten = false;

  constructor(database: OwnedDatabase) {
    this.#database = database;
    this.file = database.file;
    const { name } = this.file;
    this.#wal = `${name}-wal`;
    this.#shm = `${name}-shm`;
    const names = [this.#wal, this.#shm, ownerLockPathOf(name)];
    this.#companions = new Map(names.map((companion) => [companion, identityOf(companion)]));
    this.#checkpoints = new Checkpoints(database, name);
    this.#statements = new Statements(database);
    // Else SQLite may remove the WAL file later: beside an empty file, for example.
    database.keepWal();
  }

  /** Commits a batch. An empty one writes as a create does, and stores no plant. */
  commit(batch: Batch): FromWorker {
    try {
      const gone = this.#findGoneAlone();
      if (gone !== undefined) return this.#releaseGone(gone);
      const refused = this.#failure ?? this.#lookBefore();
      if (refused !== undefined) return refused;
      const notInserted = this.#statements.createAll(batch);
      if (notInserted === undefined)
        return failed('another program altered the table plants of the database');
      const fault = this.#lookAfter();
      if (fault !== undefined) return fault;
      if (batch[0].length > 0) [this.#lastIds] = batch;
      return { kind: 'committed', notInserted, heldWal: this.#checkpoints.measure() };
    } catch (thrown) {
      return this.#keepGone(notCommitted(thrown));
    }
  }

  /** Runs a checkpoint if it is due. */
  checkpoint(): void {
    try {
      if (!this.#checkpoints.isDue() || this.#findGoneAlone() !== undefined) return;
      if (this.#lookBefore() === undefined) this.#checkpoints.run();
    } catch (thrown) {
      const failure = notCommitted(thrown);
      // After any other failure, the connection remains usable, and the plants in the WAL file.
      if (failure.kind !== 'failed') return;
      this.#failure = failure;
      // The process can end before the connection is closed here, and Node then closes it.
      this.#rewriteOrKeepWal();
    }
  }

  close(): void {
    if (this.#failure === undefined) this.#truncateWal();
    else this.#rewriteOrKeepWal();
    this.#database.close();
  }

  #lookBefore(): NotCommitted | undefined {
    const fault = this.#findMoved() ?? this.#findOverwritten();
    if (fault !== undefined) return fault;
    const found = findFullDisk(this.file.name) ?? this.#findShortenedWal();
    return found && refused(this.#messageOf(found));
  }

  #lookAfter(): NotCommitted | undefined {
    const fault = this.#findOverwritten() ?? this.#findMoved();
    if (fault !== undefined) return fault;
    const gone = this.#findGone();
    return gone === undefined ? undefined : this.#refuseGone(gone);
  }

  #findMoved(): NotCommitted | undefined {
    const fault = findReplaced(this.file);
    return fault && failed(this.#messageOf(fault));
  }

  #findOverwritten(): NotCommitted | undefined {
    this.#isOverwritten ||= this.#database.isOverwritten();
    if (!this.#isOverwritten) return undefined;
    return refused(this.#messageOf({ kind: 'overwritten', detail: this.file.name }));
  }

  /**
   * Returns a fault if the WAL file has lost plants: a connection without a cache does not find the
   * last ones. SQLite shortens it only after a checkpoint; another file in its place has nothing to
   * lose.
   */
  #findShortenedWal(): Fault | undefined {
    if (!this.#checkpoints.isWalShorter() || this.#findGone() !== undefined) return undefined;
    return this.#canReadLastPlants() ? undefined : { kind: 'wal-shortened' };
  }

  /** Whether a new connection finds the last acknowledged plants, as this one does by its cache. */
  #canReadLastPlants(): boolean {
    const reader = new Database(this.file.name, { readOnly: true });
    try {
      const find = (database: Database) => database.prepare('SELECT 1 FROM plants WHERE id = ?');
      const [found, remembered] = [find(reader), find(this.#database)];
      return this.#lastIds.every((id) => !remembered.get(id) || found.get(id) !== undefined);
    } catch (thrown) {
      if (failureOf(thrown) === 'cannot-open' || failureOf(thrown) === 'locked') throw thrown;
      return false;
    } finally {
      reader.close();
    }
  }

  /** Returns the path of a file beside the database file that is or was removed or replaced. */
  #findGone(): string | undefined {
    const gone = [...this.#companions].find(([name, found]) => identityOf(name) !== found)?.[0];
    this.#lastGone = gone ?? this.#lastGone;
    return this.#lastGone;
  }

  /** Returns such a path if the database file itself is in its place. */
  #findGoneAlone(): string | undefined {
    const gone = this.#findGone();
    if (gone === undefined || this.#findMoved() || this.#findOverwritten()) return undefined;
    return gone;
  }

  #refuseGone(detail: string, cause?: unknown): NotCommitted {
    return { kind: 'refused', reason: this.#messageOf({ kind: 'companion-gone', detail }), cause };
  }

  /** Keeps the connection after a failure while a file beside the database file has no path. */
  #keepGone(failure: NotCommitted): NotCommitted {
    const gone = attempt(() => this.#findGoneAlone());
    if (gone === undefined) return failure;
    if (failure.kind === 'failed') this.#failure = failure;
    return this.#refuseGone(gone, failure.cause);
  }

  /**
   * Makes the next open safe. Refuses while another connection has the file open: it would go on
   * with the WAL file or the shared memory without a path, and the next one of this process with a
   * new one. Copies the plants of a WAL file without a path. A removed lock file needs nothing.
   */
  #releaseGone(gone: string): NotCommitted {
    const reason = `${gone} was removed or replaced while it was in use`;
    const released: NotCommitted = { ...this.#failure, kind: 'failed', reason };
    if (gone !== this.#wal && gone !== this.#shm) return released;
    if (findFullDisk(this.file.name) !== undefined) return this.#refuseGone(gone);
    this.#database.releaseWal();
    const busy = this.#database.withExclusiveLock(() => {
      if (gone === this.#shm) return;
      this.#checkpoints.run();
      // What a failed sync has left in the page cache.
      if (this.#failure !== undefined) this.#database.rewriteFile();
    });
    // A checkpoint would use the shared memory that has no path.
    if (gone === this.#shm) this.#database.keepWal();
    return busy === undefined ? released : this.#refuseGone(gone, busy.cause);
  }

  /** Truncates the WAL file, also of a renamed file: a new file of that name would receive it. */
  #truncateWal(): void {
    try {
      // Another program can have changed the WAL file with other shared memory.
      if (this.#findGone() === this.#shm) return this.#database.keepWal();
      if (this.#findOverwritten() ?? this.#findShortenedWal()) return;
      if (!this.#database.isBesideWal() && !this.#database.isRenamed()) return;
      this.#database.releaseWal();
      // Readers are not waited for.
      this.#database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)');
    } catch (thrown) {
      // The plants remain in the WAL file.
      this.#failure = failed(String(thrown));
      this.#rewriteOrKeepWal();
    }
  }

  /** Rewrites the pages of a failed checkpoint, because closing the database runs another one. */
  #rewriteOrKeepWal(): void {
    try {
      if (!this.#database.isBesideWal()) return;
      const gone = this.#findGoneAlone();
      if (gone === this.#wal) return void this.#releaseGone(gone);
      if (gone !== this.#shm) {
        this.#database.releaseWal();
        const busy = this.#database.withExclusiveLock(() => this.#database.rewriteTail());
        if (busy === undefined) return;
      }
    } catch {
      // The next open rewrites them, unless another program has the file open.
    }
    attempt(() => this.#database.keepWal());
  }

  #messageOf(fault: Fault): string {
    return openError(this.file.path, fault).message;
  }
}

const failed = (reason: string): NotCommitted => ({ kind: 'failed', reason });
const refused = (reason: string): NotCommitted => ({ kind: 'refused', reason });

/** Returns the reply for an exception. Rethrows any that is a bug. */
function notCommitted(cause: unknown): NotCommitted {
  const failure = failureOf(cause);
  if (failure === undefined || !(cause instanceof Error)) throw cause;
  // Of looking at a file: SQLite's exceptions name no system call.
  if ('syscall' in cause)
    return { kind: 'refused', reason: `the database cannot be examined: ${cause.message}`, cause };
  // Without a kind, the message states more, for example about an index whose expression fails.
  const description = failure === 'unexpected' ? cause.message : failure;
  const reason = `the database cannot be written: ${description}`;
  // After a full disk or a lock timeout, the connection remains usable.
  if (failure === 'disk-full' || failure === 'locked') return { kind: 'refused', reason, cause };
  return { kind: 'failed', reason, cause, mustRewrite: failure === 'input-output' };
}
