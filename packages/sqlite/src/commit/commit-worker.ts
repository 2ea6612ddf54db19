import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { err, type Result } from 'neverthrow';
import type { Batch } from '../open/columns.ts';
import { failureOf, type OpenSqliteError, type Place } from '../open/errors.ts';
import { findReplaced, identityOf, type OpenedFile, placeOf } from '../open/path.ts';
import { ownerLockPathOf } from '../open/owner-lock.ts';
import { explain } from '../open/path-faults.ts';
import { Checkpoints } from './checkpoints.ts';
import { FileStates } from './file-states.ts';
import { openAsOwner, type OwnedDatabase } from './owned-database.ts';
import { Statements } from './statements.ts';
import type { FromWorker, ToWorker, WorkerData } from './thread.ts';

function runWorker(port: MessagePort, data: WorkerData): void {
  const opened = openStore(data);
  const store = opened.unwrapOr(undefined);
  const reply: FromWorker = opened.isErr()
    ? { kind: 'cannot-open', error: opened.error }
    : { kind: 'opened' };
  port.postMessage(reply);
  // What other code has left in the event loop must not keep the thread alive.
  if (store === undefined) process.exit();
  let failedCheckpoint: Refused | undefined;
  const end = () => {
    store.close(failedCheckpoint === undefined);
    process.exit();
  };
  port.on('message', (message: ToWorker) => {
    if (message.kind === 'close') return end();
    const result = failedCheckpoint ?? store.commit(message.batch);
    port.postMessage(result);
    if (result.kind === 'failed') return end();
    // The next batch reports the failure: the plants of this batch are on the disk.
    failedCheckpoint = store.checkpoint();
  });
}

type Refused = Extract<FromWorker, { readonly reason: string }>;

/** Opens the file if it still has its path. Creates it if there was none, and returns `undefined`. */
function openStore(data: WorkerData): Result<Store | undefined, OpenSqliteError> {
  const { path, file } = data;
  try {
    // SQLite would create a missing file.
    const replaced = file && findReplaced(file);
    if (replaced !== undefined) return err(replaced);
    return openAsOwner(path, data).map((database) => {
      let store: Store | undefined;
      try {
        store = file && new Store(database, file);
        return store;
      } finally {
        if (store === undefined) database.close();
      }
    });
  } catch (thrown) {
    return err(explain(path, thrown));
  }
}

/** An open database. Each commit checks that the file has its path. */
class Store {
  readonly #database: OwnedDatabase;
  readonly #file: OpenedFile;
  readonly #statements: Statements;
  readonly #checkpoints: Checkpoints;
  readonly #states: FileStates;
  /** Final until a start, because opening the file again would accept what is left. */
  #change: string | undefined;
  /** An operator may remove them: the WAL file alone contains the latest plants, and the others contain the locks. */
  readonly #companions: ReadonlyMap<string, string | undefined>;

  constructor(database: OwnedDatabase, file: OpenedFile) {
    this.#database = database;
    this.#file = file;
    const names = [`${file.name}-wal`, `${file.name}-shm`, ownerLockPathOf(file.name)];
    this.#companions = new Map(names.map((name) => [name, identityOf(name)]));
    this.#checkpoints = new Checkpoints(database, file.name);
    this.#statements = new Statements(database);
    this.#states = new FileStates(file);
    this.#findChange();
    // Later, SQLite may remove the WAL file: beside an empty file, for example.
    database.keepWal();
  }

  commit(batch: Batch): FromWorker {
    try {
      // After a checkpoint, a commit overwrites the WAL file, which a copy in the place of the file may need.
      const before = this.#change === undefined ? findReplaced(this.#file) : undefined;
      if (before !== undefined) return failed(before.message);
      const change = this.#findChange();
      if (change !== undefined) return { kind: 'refused', reason: change };
      const notInserted = this.#statements.createAll(batch);
      if (notInserted === undefined)
        return failed('another program altered the table plants of the database');
      // The commit may have reset the WAL file. What is done after its reply is then found.
      const changed = this.#findChange();
      if (changed !== undefined) return { kind: 'refused', reason: changed };
      // After a restart, plants in a file that was removed or replaced would be missing.
      const reason = findReplaced(this.#file)?.message ?? this.#findReplacedCompanion();
      return reason === undefined
        ? { kind: 'committed', notInserted, heldWal: this.#checkpoints.measure() }
        : failed(reason);
    } catch (thrown) {
      const failure = failureOf(thrown);
      // What cannot be read may be in the WAL file.
      const isDamaged = failure === 'damaged' || failure === 'not-a-database';
      const reason = isDamaged ? this.#findChange(isDamaged) : undefined;
      return reason === undefined ? failureReply(thrown) : { kind: 'refused', reason };
    }
  }

  /** Runs a checkpoint if it is due. Returns a failure after which the connection must be closed. */
  checkpoint(): Refused | undefined {
    try {
      if (!this.#checkpoints.isDue() || this.#findChange() !== undefined) return undefined;
      this.#checkpoints.run();
      // A later change is then found.
      this.#findChange();
      return undefined;
    } catch (thrown) {
      const failure = failureReply(thrown);
      // After any other failure, the plants remain in the WAL file.
      if (failure.kind !== 'failed') return undefined;
      // The process can end before the connection is closed here, and Node then closes it.
      this.#rewriteOrKeepWal();
      return failure;
    }
  }

  close(mayCheckpoint: boolean): void {
    if (this.#findChange() === undefined && mayCheckpoint) this.#truncateWal();
    this.#database.close();
    this.#states.close();
  }

  /** Truncates the WAL file, also of a renamed file: a new file of the old name would receive it. */
  #truncateWal(): void {
    if (!this.#isAt('relinked', 'renamed')) return;
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
    // Of a file that is not beside its WAL file, SQLite runs no checkpoint when it is closed.
    if (!this.#isAt('relinked')) return;
    try {
      this.#database.releaseWal();
      const busy = this.#database.withExclusiveLock(() => this.#database.rewriteTail());
      if (busy === undefined) return;
    } catch {
      // The next open rewrites them, unless another program has the file open.
    }
    this.#database.keepWal();
  }

  /** Whether the file has its path, or is at one of other places. */
  #isAt(...places: readonly Place['state'][]): boolean {
    const place = placeOf(this.#file);
    return place === undefined || places.includes(place.state);
  }

  #findChange(isDamaged = false): string | undefined {
    return (this.#change ??= this.#states.findChange(isDamaged));
  }

  #findReplacedCompanion(): string | undefined {
    const [gone] = [...this.#companions].find(([name, found]) => identityOf(name) !== found) ?? [];
    return gone && `${gone} was removed or replaced while it was in use`;
  }
}

const failed = (reason: string): Refused => ({ kind: 'failed', reason });

/** Returns the reply for an exception from SQLite. Rethrows any other one, which is a bug. */
function failureReply(cause: unknown): Refused {
  const failure = failureOf(cause);
  if (failure === undefined) throw cause;
  // Without a kind, the message states more, for example about an index whose expression fails for a plant.
  const description = failure === 'unexpected' && cause instanceof Error ? cause.message : failure;
  const reason = `the database cannot be written: ${description}`;
  // After a full disk or a lock timeout, the connection remains usable.
  if (failure === 'disk-full' || failure === 'locked') return { kind: 'refused', reason, cause };
  return { kind: 'failed', reason, cause, mustRewrite: failure === 'input-output' };
}

if (parentPort !== null) runWorker(parentPort, workerData as WorkerData);
