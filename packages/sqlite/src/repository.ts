import type { NewPlant, PlantStore, StoreUnavailable } from '@plantstore/core';
import {
  type Commit,
  type CommittedBatch,
  type Created,
  createGroupCommit,
} from '@plantstore/core/group-commit';
import { databaseRefusal } from '@plantstore/core/errors';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import {
  type CommitResult,
  type CommitThread,
  startCommitThread,
  unexpectedError,
} from './commit/thread.ts';
import { failureOf, type OpenSqliteError } from './open/errors.ts';
import { closeFile, findReplaced, type OpenedFile, openFile } from './open/opened-file.ts';
import { explain } from './open/path-faults.ts';
import { absolutePath, resolveLinks, walSize } from './open/path.ts';

/**
 * Opens a plant repository on a SQLite file with `node:sqlite`. Creates the file if it does not exist.
 * A create resolves once the plant is on the disk (`journal_mode=WAL`, `synchronous=FULL`), so that the
 * plant survives `kill -9` and a power cut. Only one repository can have the file open at a time, in this
 * process or another. Other programs can read the file.
 *
 * @param options - the path, and options with defaults
 * @returns the repository, or the reason why the file cannot be opened, with a `message` for the operator
 * @example
 * ```ts
 * import { createPlant } from '@plantstore/core';
 * import { openSqliteRepository } from '@plantstore/sqlite';
 *
 * const opened = await openSqliteRepository({ path: 'plants.db' });
 * if (opened.isErr()) throw new Error(opened.error.message);
 * const repository = opened.value;
 * await createPlant(repository, { id: 7, name: 'Monstera' });
 * await repository.close();
 * ```
 */
export function openSqliteRepository({
  path,
  onHeldWal = () => {},
  onCommit,
}: SqliteOptions): ResultAsync<SqliteRepository, OpenSqliteError> {
  if (typeof path !== 'string')
    throw new TypeError("path must be a string: openSqliteRepository({ path: 'plants.db' })");
  const absolute = absolutePath(path);
  if (absolute.isErr()) return new ResultAsync(Promise.resolve(err(absolute.error)));
  const file = absolute.value;
  // An exception in the callback must not fail the commit.
  const reportHeldWal = (size: number) =>
    queueMicrotask(() => onHeldWal({ wal: `${resolveLinks(file)}-wal`, size }));
  return new ResultAsync(open(file, reportHeldWal)).map((opened) =>
    repositoryOn(opened, reportHeldWal, onCommit),
  );
}

/** Options of {@link openSqliteRepository}. */
export type SqliteOptions = {
  /** Path of the database file, absolute or relative to the working directory. */
  readonly path: string;
  /**
   * Called when the WAL file (`plants.db-wal`) has grown to 64 MiB, because a long read transaction of another program
   * prevents checkpoints, and again each time that its size doubles. Default: none.
   */
  readonly onHeldWal?: (wal: HeldWal) => void;
  /** Called after each commit, for metrics. Default: none. */
  readonly onCommit?: (batch: CommittedBatch) => void;
};

/** A WAL file that a checkpoint cannot reset, because another program reads an older snapshot. */
export type HeldWal = {
  /** Path of the WAL file. */
  readonly wal: string;
  /** Size of the WAL file, in bytes. */
  readonly size: number;
};

/** Result of closing a repository. */
export type ClosedSqliteRepository = {
  /**
   * Path of the WAL file, when it contains the latest plants because the last checkpoint failed: the disk is full
   * or failing, or another program reads the file. Copy both files then. `undefined` when the database file is complete.
   */
  readonly walLeft: string | undefined;
  /**
   * A message for the operator when the database file was removed, renamed or replaced while it was open: where the
   * plants are, and what to do. `undefined` when it is at its path.
   */
  readonly replaced: string | undefined;
};

/** A plant repository on a database file. */
export interface SqliteRepository extends PlantStore {
  /**
   * Checks, without writing a plant, that the repository can store plants now: the file exists and the worker
   * thread responds. Opens the file again if it was moved and put back.
   */
  readonly check: PlantStore['check'];
  /** Number of creates in flight. */
  readonly waiting: () => number;
  /** Size of the WAL file (`plants.db-wal`), in bytes; 0 when it does not exist or is inaccessible. */
  readonly walSize: () => number;
  /**
   * Commits the queued plants and closes the file. Later creates return `store-unavailable`. Further calls have no
   * effect. Acknowledged plants are on the disk even if this is never called.
   */
  readonly close: () => Promise<ClosedSqliteRepository>;
}

/** Pause between attempts to open a file again, in milliseconds. */
const reopenPauseMs = 1_000;

type Opened = { readonly thread: CommitThread; readonly file: OpenedFile };

/** Opens a file, and creates it before if it does not exist. This thread keeps it, because a commit thread can crash. */
async function open(
  path: string,
  onHeldWal: (size: number) => void,
): Promise<Result<Opened, OpenSqliteError>> {
  let file: OpenedFile | undefined;
  try {
    file = openFile(path);
  } catch (thrown) {
    const isExpected = failureOf(thrown) !== undefined;
    return err(isExpected ? explain(path, thrown) : unexpectedError(path, thrown));
  }
  const data = { path, file, mayBeNew: true, mustRewrite: false };
  const started = await startCommitThread(data, onHeldWal);
  const thread = started.unwrapOr(undefined);
  if (thread !== undefined && file !== undefined) return ok({ thread, file });
  if (file !== undefined) closeFile(file);
  return started.isErr() ? err(started.error) : open(path, onHeldWal);
}

function repositoryOn(
  opened: Opened,
  onHeldWal: (size: number) => void,
  onCommit: SqliteOptions['onCommit'],
): SqliteRepository {
  const { commit, close } = createRecoveringCommit(opened, onHeldWal);
  const runExclusively = createMutex();
  const lane: Commit = async (plants) => {
    const committed = await runExclusively(async () => commit(plants));
    return plants.map(({ id }, index): Created => {
      if (committed.isErr()) return err(committed.error);
      const reason = committed.value.get(index);
      if (reason === undefined) return ok();
      if (reason === 'unchanged') return ok(reason);
      return reason === 'id-taken'
        ? err({ kind: reason, id })
        : err({ kind: 'plant-refused', ...databaseRefusal, cause: reason });
    });
  };
  const group = createGroupCommit({
    lanes: [lane],
    ...(onCommit !== undefined && { onCommit }),
  });
  let closing: Promise<ClosedSqliteRepository> | undefined;

  const check = async (): Promise<Result<void, StoreUnavailable>> => {
    if (closing !== undefined) {
      return err({ kind: 'store-unavailable', reason: 'the database is closed' });
    }
    // An empty batch runs the checks of a commit, and writes nothing.
    return (await runExclusively(async () => commit([]))).map(() => undefined);
  };

  return {
    create: group.create,
    check: () => new ResultAsync(check()),
    waiting: group.waiting,
    walSize: () => walSize(opened.file.name),
    close: async () => {
      closing ??= group.close().then(async () => runExclusively(close));
      return closing;
    },
  };
}

/** Commits in a worker thread, and starts a new one after it has exited. */
function createRecoveringCommit({ file, ...first }: Opened, onHeldWal: (size: number) => void) {
  let { thread } = first;
  let lastFailure: { readonly at: number; readonly error: OpenSqliteError } | undefined;

  const reopen = async (): Promise<OpenSqliteError | undefined> => {
    if (lastFailure !== undefined && performance.now() - lastFailure.at < reopenPauseMs)
      return lastFailure.error;
    const mustRewrite = thread.mustRewrite();
    const data = { path: file.path, file, mayBeNew: false, mustRewrite };
    const started = await startCommitThread(data, onHeldWal);
    thread = started.unwrapOr(undefined) ?? thread;
    lastFailure = started.isErr() ? { at: performance.now(), error: started.error } : undefined;
    return lastFailure?.error;
  };

  const commit = async (plants: readonly NewPlant[]): Promise<CommitResult> => {
    const error = thread.hasExited() ? await reopen() : undefined;
    if (error === undefined) return thread.commit(plants);
    const reason = `the database cannot be opened: ${error.message}`;
    return err({ kind: 'store-unavailable', reason, cause: error.cause });
  };
  const close = async (): Promise<ClosedSqliteRepository> => {
    await thread.close();
    const replaced = findReplaced(file)?.message;
    closeFile(file);
    const walLeft = walSize(file.name) > 0 ? `${file.name}-wal` : undefined;
    return { walLeft, replaced };
  };
  return { commit, close };
}

/** Returns a function that runs one task at a time, in call order. A task that rejects does not stop later tasks. */
function createMutex(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return async (task) => {
    const result = last.then(task);
    last = result.catch(() => {});
    return result;
  };
}
