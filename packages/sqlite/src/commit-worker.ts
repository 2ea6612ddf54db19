import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { FromWorker, ToWorker, WorkerData } from './commit-thread.ts';
import { openDatabaseFile } from './database-file.ts';
import { createCheckpointer } from './checkpointer.ts';
import { fateOf, identityOf, type KeptFile } from './kept-file.ts';
import { findReplaced, openErrorOf, unusableFileError } from './open-error.ts';
import type { OwnedDatabase } from './owned-database.ts';
import { ownerLockPathOf } from './owner-lock.ts';
import { prepareCreateAll } from './plants-table.ts';
import { sqliteFailureOf } from './sqlite-failure.ts';
import { withExclusiveLock } from './exclusive-lock.ts';
import { rewriteTail } from './wal-file.ts';

type Opened = {
  readonly database: OwnedDatabase;
  readonly kept: KeptFile;
  readonly createAll: ReturnType<typeof prepareCreateAll>;
  readonly checkpointer: ReturnType<typeof createCheckpointer>;
  /** Returns a message when a file that belongs to the database was removed or replaced. */
  readonly findReplacedCompanion: () => string | undefined;
};

type CannotOpen = Extract<FromWorker, { readonly kind: 'cannot-open' }>;

const cannotOpen = (error: CannotOpen['error']): CannotOpen => ({ kind: 'cannot-open', error });

/** Prepares an open database for commits. */
const prepare = (database: OwnedDatabase, kept: KeptFile): Opened => {
  const { name: file } = kept;
  // An operator may remove them: the WAL file alone contains the latest plants, and the others contain the locks.
  const companions = [`${file}-wal`, `${file}-shm`, ownerLockPathOf(file)].map((name) => ({
    name,
    identity: identityOf(name),
  }));
  const findReplacedCompanion = () => {
    const gone = companions.find((one) => one.identity !== identityOf(one.name));
    return gone && `${gone.name} was removed or replaced while it was in use`;
  };
  const checkpointer = createCheckpointer(database, file);
  const createAll = prepareCreateAll(database);
  return { database, kept, createAll, checkpointer, findReplacedCompanion };
};

/** Opens the kept file if it still has its path. Each commit checks the path again. */
const openKept = (kept: KeptFile, { path, ...expected }: WorkerData): Opened | CannotOpen => {
  // SQLite would create a missing file.
  const replaced = findReplaced(kept);
  if (replaced !== undefined) return cannotOpen(replaced);
  const database = openDatabaseFile(path, expected);
  if ('kind' in database) return cannotOpen(unusableFileError(path, database));
  let opened: Opened | undefined;
  try {
    opened = prepare(database, kept);
    return opened;
  } finally {
    if (opened === undefined) database.close();
  }
};

const open = (data: WorkerData): Opened | CannotOpen | { readonly kind: 'created' } => {
  const { path, kept } = data;
  try {
    if (kept !== undefined) return openKept(kept, data);
    const created = openDatabaseFile(path, data);
    if ('kind' in created) return cannotOpen(unusableFileError(path, created));
    created.close();
    return { kind: 'created' };
  } catch (thrown) {
    return cannotOpen(openErrorOf(path, thrown));
  }
};

type Failed = Extract<FromWorker, { readonly kind: 'failed' }>;

const failed = (reason: string): Failed => ({ kind: 'failed', reason });

/** Returns the reply for an exception from SQLite; rethrows any other exception, which is a bug. */
const failureOf = (cause: unknown): Extract<FromWorker, { reason: string }> => {
  const failure = sqliteFailureOf(cause);
  if (failure === undefined) throw cause;
  // Without a kind, the message says more, for example about an index whose expression fails for a plant.
  const description = failure === 'unexpected' && cause instanceof Error ? cause.message : failure;
  const reason = `the database cannot be written: ${description}`;
  // After a full disk or a lock timeout, the connection remains usable.
  if (failure === 'disk-full' || failure === 'locked') return { kind: 'refused', reason, cause };
  return { kind: 'failed', reason, cause, mustRewrite: failure === 'input-output' };
};

const commit = (
  { kept, createAll, checkpointer, findReplacedCompanion }: Opened,
  { batch }: ToWorker & { kind: 'commit' },
): FromWorker => {
  try {
    // After a checkpoint, a commit overwrites the WAL file, which a copy in the place of the file may need.
    const before = findReplaced(kept);
    if (before !== undefined) return failed(before.message);
    const notInserted = createAll(batch);
    if (notInserted === 'table-altered')
      return failed('another program altered the table plants of the database');
    // After a restart, plants in a file that was removed or replaced would be missing.
    const reason = findReplaced(kept)?.message ?? findReplacedCompanion();
    return reason === undefined
      ? { kind: 'committed', notInserted, heldWal: checkpointer.measure() }
      : failed(reason);
  } catch (cause) {
    return failureOf(cause);
  }
};

/** Rewrites the pages of a failed checkpoint, because closing the database runs another one. */
const rewriteOrKeepWal = ({ database, kept }: Opened): void => {
  // Of a file that is not beside its WAL file, SQLite runs no checkpoint when it is closed.
  if (!['unchanged', 'relinked'].includes(fateOf(kept).kind)) return;
  try {
    if (withExclusiveLock(database, () => rewriteTail(database, kept.name)) === undefined) return;
  } catch {
    // The next open rewrites them, unless another program has the file open.
  }
  database.keepWal();
};

/** Runs a checkpoint if it is due. Returns a failure after which the connection must be closed. */
const checkpoint = (opened: Opened): Failed | undefined => {
  try {
    opened.checkpointer.checkpointIfDue();
    return undefined;
  } catch (cause) {
    const failure = failureOf(cause);
    // After any other failure, the plants remain in the WAL file.
    if (failure.kind !== 'failed') return undefined;
    // The process can end before the connection is closed here, and Node then closes it.
    rewriteOrKeepWal(opened);
    return failure;
  }
};

/**
 * Runs a checkpoint that truncates the WAL file, also when the database file was renamed. On close, SQLite would then
 * keep the WAL file under the old name: the renamed file would lack plants, and a new file would receive them. If the file
 * was removed or replaced, the WAL file remains as it is: a copy in the place of the file may need it.
 */
const truncateWal = (opened: Opened): void => {
  const { database, kept } = opened;
  if (!['unchanged', 'relinked', 'renamed'].includes(fateOf(kept).kind)) return;
  try {
    // Readers are not waited for.
    database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // The plants remain in the WAL file.
    rewriteOrKeepWal(opened);
  }
};

const runWorker = (port: MessagePort, data: WorkerData): void => {
  const opened = open(data);
  if ('kind' in opened) {
    port.postMessage(opened);
    return;
  }
  let failedCheckpoint: Failed | undefined;
  const end = () => {
    if (failedCheckpoint === undefined) truncateWal(opened);
    opened.database.close();
    port.close();
  };
  port.on('message', (message: ToWorker) => {
    if (message.kind === 'close') {
      end();
      return;
    }
    const reply = failedCheckpoint ?? commit(opened, message);
    port.postMessage(reply);
    if (reply.kind === 'failed') end();
    // The next batch reports the failure: the plants of this batch are on the disk.
    else failedCheckpoint = checkpoint(opened);
  });
  port.postMessage({ kind: 'opened' } satisfies FromWorker);
};

if (parentPort !== null) runWorker(parentPort, workerData as WorkerData);
