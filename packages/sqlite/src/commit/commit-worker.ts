import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { err, ok, type Result } from 'neverthrow';
import { explain } from '../open/access.ts';
import type { Batch } from '../open/columns.ts';
import { failureOf, openError, type OpenSqliteError } from '../open/errors.ts';
import { findReplaced, openAsOwner } from '../open/owned-database.ts';
import type { OpenedFile, Opening, OwnedDatabase } from '../open/owned-database.ts';
import { ownerLockPathOf } from '../open/owner-lock.ts';
import { identityOf } from '../open/path.ts';
import { Checkpoints } from './checkpoints.ts';
import type { FromWorker, NotCommitted, ToWorker } from './owner.ts';
import { Statements } from './statements.ts';

/** Opens the file, and commits batches until a commit fails or the file must be closed. */
function runWorker(port: MessagePort, opening: Opening): void {
  const send = (message: FromWorker) => port.postMessage(message);
  const opened = openAsOwner(opening).andThen((database) => openStore(opening.path, database));
  if (opened.isErr()) {
    send({ kind: 'cannot-open', error: opened.error });
    // What other code has left in the event loop must not keep the thread alive.
    process.exit();
  }
  const store = opened.value;
  send({ kind: 'opened', file: store.file });
  port.on('message', (message: ToWorker) => {
    const reply = message.kind === 'commit' ? store.commit(message.batch) : undefined;
    if (reply !== undefined) send(reply);
    if (reply?.kind === 'committed' || reply?.kind === 'refused') return store.checkpoint();
    store.close();
    process.exit();
  });
}

function openStore(path: string, database: OwnedDatabase): Result<Store, OpenSqliteError> {
  try {
    return ok(new Store(database));
  } catch (thrown) {
    database.close();
    return err(explain(path, thrown));
  }
}

/**
 * An open database. Looks before and after each commit for what was done to its files:
 *
 * - The file lost its path: the commit fails. Before it, because it could overwrite the WAL file
 *   after a checkpoint, which a copy in the place of the file may need.
 * - A backup was copied over the file: every commit is refused until a start.
 * - A file beside it is gone: the commit fails, because a start would not find its plants.
 *
 * After a failed commit, the thread closes the file, and a next one opens it.
 */
class Store {
  readonly file: OpenedFile;
  readonly #database: OwnedDatabase;
  readonly #statements: Statements;
  readonly #checkpoints: Checkpoints;
  /** The WAL file alone contains the latest plants, and the others contain the locks. */
  readonly #companions: ReadonlyMap<string, string | undefined>;
  /** A failed checkpoint, which the next batch reports: the plants of its own are on the disk. */
  #failedCheckpoint: NotCommitted | undefined;
  #isOverwritten = false;

  constructor(database: OwnedDatabase) {
    this.#database = database;
    this.file = database.file;
    const { name } = this.file;
    const names = [`${name}-wal`, `${name}-shm`, ownerLockPathOf(name)];
    this.#companions = new Map(names.map((companion) => [companion, identityOf(companion)]));
    this.#checkpoints = new Checkpoints(database, name);
    this.#statements = new Statements(database);
    // Else SQLite may remove the WAL file later: beside an empty file, for example.
    database.keepWal();
  }

  commit(batch: Batch): FromWorker {
    const refused = this.#failedCheckpoint ?? this.#findMoved() ?? this.#findOverwritten();
    if (refused !== undefined) return refused;
    try {
      const notInserted = this.#statements.createAll(batch);
      if (notInserted === undefined)
        return failed('another program altered the table plants of the database');
      const fault = this.#findOverwritten() ?? this.#findMoved() ?? this.#findGoneCompanion();
      return fault ?? { kind: 'committed', notInserted, heldWal: this.#checkpoints.measure() };
    } catch (thrown) {
      return notCommitted(thrown);
    }
  }

  /** Runs a checkpoint if it is due. */
  checkpoint(): void {
    try {
      const isDue = this.#checkpoints.isDue() && this.#findOverwritten() === undefined;
      if (isDue) this.#checkpoints.run();
    } catch (thrown) {
      const failure = notCommitted(thrown);
      // After any other failure, the connection remains usable, and the plants in the WAL file.
      if (failure.kind !== 'failed') return;
      this.#failedCheckpoint = failure;
      // The process can end before the connection is closed here, and Node then closes it.
      this.#rewriteOrKeepWal();
    }
  }

  close(): void {
    if (this.#failedCheckpoint === undefined && this.#findOverwritten() === undefined)
      this.#truncateWal();
    this.#database.close();
  }

  /** Truncates the WAL file, also of a renamed file: a new file of that name would receive it. */
  #truncateWal(): void {
    if (!this.#database.isBesideWal() && !this.#database.isRenamed()) return;
    try {
      this.#database.releaseWal();
      // Readers are not waited for.
      this.#database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // The plants remain in the WAL file.
      this.#rewriteOrKeepWal();
    }
  }

  /** Rewrites the pages of a failed checkpoint, because closing the database runs another one. */
  #rewriteOrKeepWal(): void {
    if (!this.#database.isBesideWal()) return;
    try {
      this.#database.releaseWal();
      const busy = this.#database.withExclusiveLock(() => this.#database.rewriteTail());
      if (busy === undefined) return;
    } catch {
      // The next open rewrites them, unless another program has the file open.
    }
    this.#database.keepWal();
  }

  #findMoved(): NotCommitted | undefined {
    const fault = findReplaced(this.file);
    return fault && failed(openError(this.file.path, fault).message);
  }

  /** Final until a start, because a checkpoint of another program could hide it. */
  #findOverwritten(): NotCommitted | undefined {
    this.#isOverwritten ||= this.#database.isOverwritten();
    if (!this.#isOverwritten) return undefined;
    const { path, name } = this.file;
    const { message } = openError(path, { kind: 'overwritten', detail: name });
    return { kind: 'refused', reason: message };
  }

  #findGoneCompanion(): NotCommitted | undefined {
    const [gone] = [...this.#companions].find(([name, found]) => identityOf(name) !== found) ?? [];
    if (gone === undefined) return undefined;
    return failed(`${gone} was removed or replaced while it was in use`);
  }
}

const failed = (reason: string): NotCommitted => ({ kind: 'failed', reason });

/** Returns the reply for an exception from SQLite. Rethrows any other one, which is a bug. */
function notCommitted(cause: unknown): NotCommitted {
  const failure = failureOf(cause);
  if (failure === undefined) throw cause;
  // Without a kind, the message states more, for example about an index whose expression fails.
  const description = failure === 'unexpected' && cause instanceof Error ? cause.message : failure;
  const reason = `the database cannot be written: ${description}`;
  // After a full disk or a lock timeout, the connection remains usable.
  if (failure === 'disk-full' || failure === 'locked') return { kind: 'refused', reason, cause };
  return { kind: 'failed', reason, cause, mustRewrite: failure === 'input-output' };
}

if (parentPort !== null) runWorker(parentPort, workerData as Opening);
