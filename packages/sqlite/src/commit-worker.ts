import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { FromWorker, ToWorker, WorkerData } from './commit-protocol.ts';
import { openDatabaseFile } from './database-file.ts';
import { type FileIdentity, identityOf, isSameFile } from './file-identity.ts';
import { rewriteTail } from './log-file.ts';
import { type LogWatch, watchLog } from './log-watch.ts';
import { unusableFileError, openErrorOf } from './open-error.ts';
import type { OwnedDatabase } from './owned-database.ts';
import { guardPathOf } from './owner-guard.ts';
import { createPlantsTable, type PlantsTable } from './plants-table.ts';
import { sqliteFailureOf } from './sqlite-failure.ts';
import { whileAlone } from './while-alone.ts';

type Opened = {
  readonly database: OwnedDatabase;
  /** The path of the database, without links. */
  readonly file: string;
  readonly table: PlantsTable;
  readonly log: LogWatch;
  readonly identity: FileIdentity;
  /** Says which of the files that hold the plants is no longer under its name, if any. */
  readonly missing: () => string | undefined;
};

type CannotOpen = Extract<FromWorker, { readonly kind: 'cannot-open' }>;

const replaced = (path: string): CannotOpen => ({
  kind: 'cannot-open',
  error: unusableFileError(path, { kind: 'replaced' }),
});

/** Takes charge of a database that was opened, if it is the file that the name still means. */
const own = (
  database: OwnedDatabase,
  { path, identity: before }: WorkerData,
): Opened | CannotOpen => {
  const identity = identityOf(path);
  const isIt = identity !== undefined && (before === undefined || isSameFile(before, identity));
  if (!isIt) return replaced(path);
  const file = database.location() ?? path;
  // Plants of the last commits are in the log alone. In the others are the locks that other programs respect.
  const beside = [`${file}-wal`, `${file}-shm`, guardPathOf(file)].map((name) => ({
    name,
    identity: identityOf(name),
  }));
  const missing = () => {
    if (!isSameFile(identity, identityOf(path))) return replaced(path).error.message;
    const gone = beside.find((one) => !isSameFile(one.identity, identityOf(one.name)));
    return gone && `${gone.name} was removed or replaced while it was in use`;
  };
  const log = watchLog(database, file);
  return { database, file, table: createPlantsTable(database), log, identity, missing };
};

const tryToOpen = (data: WorkerData): Opened | CannotOpen => {
  const { path, identity, mustRewrite } = data;
  if (identity !== undefined && !isSameFile(identity, identityOf(path))) return replaced(path);
  // The inode of a file that was removed is soon that of the next one: it must be a store, too.
  const database = openDatabaseFile(path, { mayBeNew: identity === undefined, mustRewrite });
  if ('kind' in database) return { kind: 'cannot-open', error: unusableFileError(path, database) };
  try {
    const owned = own(database, data);
    if ('kind' in owned) database.close();
    return owned;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
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

/** How long another program may still have the file when it is opened, in milliseconds. */
const lockPatienceMs = 500;

/**
 * SQLite's own busy timeout would wait with a lock in hand: of two that open one new file, each would
 * wait for the other.
 */
const open = (data: WorkerData): Opened | CannotOpen => {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  const giveUpAt = performance.now() + lockPatienceMs;
  let opened = openOnce(data);
  while ('kind' in opened && opened.error.kind === 'locked' && performance.now() < giveUpAt) {
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

/** What an exception of SQLite means for a batch; throws one that is a fault of ours. */
const failureBy = (cause: unknown): Extract<FromWorker, { reason: string }> => {
  const failure = sqliteFailureOf(cause);
  if (failure === undefined) throw cause;
  const reason = `the database cannot be written: ${failure}`;
  // On a full disk, and while another program writes, the connection is as good as before.
  if (failure === 'disk-full' || failure === 'locked') return { kind: 'refused', reason, cause };
  return { kind: 'failed', reason, cause, mustRewrite: failure === 'input-output' };
};

const commit = (
  { table, log, missing }: Opened,
  { batch }: ToWorker & { kind: 'commit' },
): FromWorker => {
  try {
    const created = table.createAll(batch);
    if (created.kind === 'table-altered')
      return failed('another program altered the schema of the database');
    // A plant in a file that no name leads to is not kept.
    const reason = missing();
    return reason === undefined
      ? { kind: 'committed', taken: created.taken, heldLog: log.measure() }
      : failed(reason);
  } catch (cause) {
    return failureBy(cause);
  }
};

/** Returns the failure of a checkpoint after which the connection cannot be trusted. */
const checkpoint = ({ log }: Opened): Failed | undefined => {
  try {
    log.checkpointIfDue();
    return undefined;
  } catch (cause) {
    const failure = failureBy(cause);
    // What was refused stays in the log.
    return failure.kind === 'failed' ? failure : undefined;
  }
};

const tryToRewriteTail = ({ database, file }: Opened): void => {
  try {
    // Where another program has the file, closing leaves the log.
    whileAlone(database, () => rewriteTail(file));
  } catch {
    // Closing fails for the same reason, and leaves the log.
  }
};

/**
 * Empties the log into the file, also where that has another name by now. SQLite would leave the log
 * then: the moved file would miss plants, and a file that takes its place would be given them.
 */
const emptyLog = (opened: Opened, failure: Failed | undefined): void => {
  const { database, missing } = opened;
  try {
    if (failure !== undefined) throw failure.cause;
    // A program that reads is not waited for.
    database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // What cannot be written now stays in the log. Closing tries again.
    if (missing() === undefined) tryToRewriteTail(opened);
  }
};

const serve = (port: MessagePort, data: WorkerData): void => {
  const opened = open(data);
  if ('kind' in opened) {
    port.postMessage(opened);
    return;
  }
  let failedCheckpoint: Failed | undefined;
  const end = () => {
    emptyLog(opened, failedCheckpoint);
    opened.database.close();
    port.close();
  };
  port.on('message', (message: ToWorker) => {
    if (message.kind === 'close') {
      end();
      return;
    }
    const told = failedCheckpoint ?? commit(opened, message);
    port.postMessage(told);
    if (told.kind === 'failed') end();
    // The next batch has the failure: this one is on the disk.
    else failedCheckpoint = checkpoint(opened);
  });
  port.postMessage({ kind: 'opened', identity: opened.identity });
};

if (parentPort !== null) serve(parentPort, workerData as WorkerData);
