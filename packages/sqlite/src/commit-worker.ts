import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { FromWorker, ToWorker, WorkerData } from './commit-protocol.ts';
import { openDatabaseFile } from './database-file.ts';
import { type FileIdentity, identityOf, isSameFile } from './file-identity.ts';
import type { OwnedDatabase } from './owned-database.ts';
import { unusableFileError, openErrorOf } from './open-error.ts';
import { createPlantsTable, type PlantsTable } from './plants-table.ts';
import { sqliteFailureOf } from './sqlite-failure.ts';

type Opened = {
  readonly database: OwnedDatabase;
  readonly table: PlantsTable;
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
  // Plants of the last commits are in the log alone.
  const log = `${database.location() ?? path}-wal`;
  const logIdentity = identityOf(log);
  const isIt = identity !== undefined && (before === undefined || isSameFile(before, identity));
  if (!isIt || logIdentity === undefined) return replaced(path);
  const missing = () => {
    if (!isSameFile(identity, identityOf(path))) return replaced(path).error.message;
    if (isSameFile(logIdentity, identityOf(log))) return undefined;
    return `${log} was removed or replaced while it was in use`;
  };
  return { database, table: createPlantsTable(database), identity, missing };
};

const tryToOpen = (data: WorkerData): Opened | CannotOpen => {
  const { path, identity } = data;
  if (identity !== undefined && !isSameFile(identity, identityOf(path))) return replaced(path);
  // The inode of a file that was removed is soon that of the next one: it must be a store, too.
  const database = openDatabaseFile(path, identity === undefined);
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

const commit = (
  { table, missing }: Opened,
  { batch }: ToWorker & { kind: 'commit' },
): FromWorker => {
  try {
    const taken = table.createAll(batch);
    // A plant in a file that nobody can find any more is not kept.
    const reason = missing();
    return reason === undefined
      ? { kind: 'committed', taken }
      : { kind: 'failed', reason, cause: undefined };
  } catch (cause) {
    const failure = sqliteFailureOf(cause);
    if (failure === undefined) throw cause;
    const reason = `the database cannot be written: ${failure}`;
    // After a full disk the connection is as good as before; after anything else who knows.
    return { kind: failure === 'disk-full' ? 'refused' : 'failed', reason, cause };
  }
};

const tryToRewriteTail = (database: OwnedDatabase): void => {
  try {
    database.rewriteTail();
  } catch {
    // Closing fails for the same reason, and leaves the log.
  }
};

/**
 * Empties the log into the file, also where that has another name by now. SQLite would leave the log
 * then: the moved file would miss plants, and a file that takes its place would be given them.
 */
const emptyLog = ({ database, missing }: Opened): void => {
  try {
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // What cannot be written now stays in the log. Closing tries again.
    if (missing() === undefined) tryToRewriteTail(database);
  }
};

const serve = (port: MessagePort, data: WorkerData): void => {
  const opened = open(data);
  if ('kind' in opened) {
    port.postMessage(opened);
    return;
  }
  const end = () => {
    emptyLog(opened);
    opened.database.close();
    port.close();
  };
  port.on('message', (message: ToWorker) => {
    if (message.kind === 'close') {
      end();
      return;
    }
    const told = commit(opened, message);
    port.postMessage(told);
    if (told.kind === 'failed') end();
  });
  port.postMessage({ kind: 'opened', identity: opened.identity });
};

if (parentPort !== null) serve(parentPort, workerData as WorkerData);
