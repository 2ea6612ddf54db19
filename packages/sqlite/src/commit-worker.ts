import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { FromWorker, ToWorker, WorkerData } from './commit-protocol.ts';
import { openDatabaseFile } from './database-file.ts';
import { type FileIdentity, identityOf, isSameFile } from './file-identity.ts';
import { type Checkpointer, createCheckpointer } from './checkpointer.ts';
import { unusableFileError, openErrorOf } from './open-error.ts';
import type { OwnedDatabase } from './owned-database.ts';
import { ownerLockPathOf } from './owner-lock.ts';
import { createPlantsTable, type PlantsTable } from './plants-table.ts';
import { sqliteFailureOf } from './sqlite-failure.ts';
import { withExclusiveLock } from './exclusive-lock.ts';
import { rewriteTail } from './wal-file.ts';

type Opened = {
  readonly database: OwnedDatabase;
  /** The path of the database, with symbolic links resolved. */
  readonly file: string;
  readonly table: PlantsTable;
  readonly checkpointer: Checkpointer;
  readonly identity: FileIdentity;
  /** Whether the database was removed or replaced. */
  readonly isReplaced: () => boolean;
  /** Returns a message when the database, or a file that belongs to it, was removed or replaced. */
  readonly findReplaced: () => string | undefined;
};

type CannotOpen = Extract<FromWorker, { readonly kind: 'cannot-open' }>;

const replaced = (path: string): CannotOpen => ({
  kind: 'cannot-open',
  error: unusableFileError(path, { kind: 'replaced' }),
});

/** Prepares an open database for commits, if its path still refers to the file that it had before. */
const prepare = (
  database: OwnedDatabase,
  path: string,
  before: FileIdentity | undefined,
): Opened | CannotOpen => {
  const identity = identityOf(path);
  if (identity === undefined || (before !== undefined && !isSameFile(before, identity)))
    return replaced(path);
  const file = database.location() ?? path;
  // An operator may remove them: the WAL file alone contains the latest plants, and the others contain the locks.
  const companions = [`${file}-wal`, `${file}-shm`, ownerLockPathOf(file)].map((name) => ({
    name,
    identity: identityOf(name),
  }));
  const isReplaced = () => !isSameFile(identity, identityOf(path));
  const findReplaced = () => {
    if (isReplaced()) return replaced(path).error.message;
    const gone = companions.find((one) => !isSameFile(one.identity, identityOf(one.name)));
    return gone && `${gone.name} was removed or replaced while it was in use`;
  };
  const checkpointer = createCheckpointer(database, file);
  const table = createPlantsTable(database);
  return { database, file, table, checkpointer, identity, isReplaced, findReplaced };
};

const tryToOpen = (data: WorkerData): Opened | CannotOpen => {
  const { path, identity, mustRewrite } = data;
  const before = identityOf(path);
  // SQLite would create a missing file.
  if (identity !== undefined && !isSameFile(identity, before)) return replaced(path);
  // A new file can reuse the inode of a removed one, so the content must be a plant store, too.
  const database = openDatabaseFile(path, { mayBeNew: identity === undefined, mustRewrite });
  if ('kind' in database) {
    if (database.kind === 'empty') return replaced(path);
    return { kind: 'cannot-open', error: unusableFileError(path, database) };
  }
  let prepared: Opened | CannotOpen;
  try {
    prepared = prepare(database, path, before);
  } catch (thrown) {
    database.close();
    throw thrown;
  }
  if (!('kind' in prepared) && before !== undefined) return prepared;
  database.close();
  // Another file may have taken the place of a new one before its identity was read. Now there is one to compare.
  return 'kind' in prepared ? prepared : tryToOpen(data);
};

const openOnce = (data: WorkerData): Opened | CannotOpen => {
  try {
    return tryToOpen(data);
  } catch (thrown) {
    const error = openErrorOf(data.path, thrown);
    if (error === undefined) throw thrown;
    return { kind: 'cannot-open', error };
  }
};

/** Time to wait for another program that has the file locked, in milliseconds. */
const lockTimeoutMs = 500;

/**
 * Opens the file, and retries while it is locked. SQLite's busy timeout would keep a lock during the wait:
 * two processes that open one new file at the same time would then wait for each other.
 */
const open = (data: WorkerData): Opened | CannotOpen => {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  const deadline = performance.now() + lockTimeoutMs;
  let opened = openOnce(data);
  while ('kind' in opened && opened.error.kind === 'locked' && performance.now() < deadline) {
    Atomics.wait(sleeper, 0, 0, 10 + Math.random() * 20);
    opened = openOnce(data);
  }
  return opened;
};

type Failed = Extract<FromWorker, { readonly kind: 'failed' }>;

const failed = (reason: string): Failed => ({
  kind: 'failed',
  reason,
  cause: undefined,
  mustRewrite: false,
});

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
  { table, checkpointer, findReplaced }: Opened,
  { batch }: ToWorker & { kind: 'commit' },
): FromWorker => {
  try {
    const created = table.createAll(batch);
    if (created.kind === 'table-altered')
      return failed('another program altered the table plants of the database');
    // After a restart, plants in a file that was removed or replaced would be missing.
    const reason = findReplaced();
    return reason === undefined
      ? { kind: 'committed', taken: created.taken, heldWal: checkpointer.measure() }
      : failed(reason);
  } catch (cause) {
    return failureOf(cause);
  }
};

/** Rewrites the pages of a failed checkpoint, because closing the database runs another one. */
const rewriteOrKeepWal = ({ database, file, isReplaced }: Opened): void => {
  // Without its file, SQLite runs no checkpoint.
  if (isReplaced()) return;
  try {
    if (withExclusiveLock(database, () => rewriteTail(database, file)).kind === 'done') return;
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
 * keep the WAL file under the old name: the renamed file would lack plants, and a new file would receive them.
 */
const truncateWal = (opened: Opened): void => {
  try {
    // Readers are not waited for.
    opened.database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // The plants remain in the WAL file.
    rewriteOrKeepWal(opened);
  }
};

/** Number of commits in a row that find the file locked, after which it is opened again. */
const maxLocked = 3;

/**
 * Counts the commits in a row that find the file locked, and makes the last one end the connection: after a failed system
 * call (`fcntl` on the `-shm` file), SQLite can keep a lock that nothing but closing the file releases.
 */
const createLockedCounter = () => {
  let locked = 0;
  return (reply: FromWorker): FromWorker => {
    const isLocked = reply.kind === 'refused' && sqliteFailureOf(reply.cause) === 'locked';
    locked = isLocked ? locked + 1 : 0;
    return isLocked && locked === maxLocked
      ? { ...reply, kind: 'failed', mustRewrite: false }
      : reply;
  };
};

const runWorker = (port: MessagePort, data: WorkerData): void => {
  const opened = open(data);
  if ('kind' in opened) {
    port.postMessage(opened);
    return;
  }
  let failedCheckpoint: Failed | undefined;
  const countLocked = createLockedCounter();
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
    const reply = failedCheckpoint ?? countLocked(commit(opened, message));
    port.postMessage(reply);
    if (reply.kind === 'failed') end();
    // The next batch reports the failure: the plants of this batch are on the disk.
    else failedCheckpoint = checkpoint(opened);
  });
  port.postMessage({ kind: 'opened', identity: opened.identity });
};

if (parentPort !== null) runWorker(parentPort, workerData as WorkerData);
