import type { NewPlant, PlantStore, StoreUnavailable } from '@plantstore/core';
import {
  type Commit,
  type CommittedBatch,
  type Created,
  createGroupCommit,
} from '@plantstore/core/group-commit';
import { databaseRefusal } from '@plantstore/core/errors';
import { err, ok, Result, ResultAsync } from 'neverthrow';
import { type CommitResult, type CommitThread, startCommitThread } from './commit/thread.ts';
import type { OpenSqliteError } from './open/errors.ts';
import {
  absolutePath,
  closeFile,
  findReplaced,
  type OpenedFile,
  openFile,
  resolveLinks,
  walSize,
} from './open/path.ts';
import { explain } from './open/path-faults.ts';

/**
 * Opens a plant repository on a SQLite file with `node:sqlite`. Creates the file if it does not
 * exist. A create resolves once the plant is on the disk (`journal_mode=WAL`, `synchronous=FULL`),
 * so that the plant survives `kill -9` and a power cut. Only one repository can have the file open
 * at a time, in this process or another. Other programs can read the file.
 *
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
  return absolutePath(path).asyncAndThen((file) => {
    // An exception in the callback must not fail the commit.
    const reportHeldWal = (size: number) =>
      queueMicrotask(() => onHeldWal({ wal: `${resolveLinks(file)}-wal`, size }));
    const opened = new ResultAsync(open(file, reportHeldWal));
    return opened.map((one) => repositoryOn(one, reportHeldWal, onCommit));
  });
}

/** Options of {@link openSqliteRepository}. */
export type SqliteOptions = {
  /** Path of the database file, absolute or relative to the working directory. */
  readonly path: string;
  /**
   * Called when the WAL file (`plants.db-wal`) has grown to 64 MiB, because another program's long
   * read transaction prevents checkpoints, and each time that its size doubles. Default: none.
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
  /** The WAL file, if it has the latest plants: the last checkpoint failed. Copy both files then. */
  readonly walLeft: string | undefined;
  /** Where the plants are and what to do, if the file was removed, renamed or replaced meanwhile. */
  readonly replaced: string | undefined;
};

/** A plant repository on a database file. */
export interface SqliteRepository extends PlantStore {
  /** Size of the WAL file (`plants.db-wal`), in bytes; 0 when it does not exist or is inaccessible. */
  readonly walSize: () => number;
  /** As of every store; the result names what an operator should look at. */
  readonly close: () => Promise<ClosedSqliteRepository>;
}

/** Pause between attempts to open a file again, in milliseconds. */
const reopenPauseMs = 1_000;

type Opened = { readonly thread: CommitThread; readonly file: OpenedFile };

/** Opens a file, or creates it first. This thread keeps it open: a commit thread can crash. */
async function open(
  path: string,
  onHeldWal: (size: number) => void,
): Promise<Result<Opened, OpenSqliteError>> {
  const opened = Result.fromThrowable(openFile, (thrown) => explain(path, thrown))(path);
  if (opened.isErr()) return err(opened.error);
  const file = opened.value;
  const data = { path, file, mayBeNew: true, mustRewrite: false };
  const started = await startCommitThread(data, onHeldWal);
  if (started.isErr() && file !== undefined) closeFile(file);
  if (started.isErr()) return err(started.error);
  return file === undefined ? open(path, onHeldWal) : ok({ thread: started.value, file });
}

function repositoryOn(
  { file, thread: first }: Opened,
  onHeldWal: (size: number) => void,
  onCommit: SqliteOptions['onCommit'],
): SqliteRepository {
  let thread = first;
  let lastFailure: { readonly at: number; readonly error: OpenSqliteError } | undefined;
  let closing: Promise<ClosedSqliteRepository> | undefined;
  let lastTask: Promise<unknown> = Promise.resolve();

  /** Runs one task at a time, in call order. */
  const inTurn = async <T>(task: () => Promise<T>): Promise<T> => {
    const result = lastTask.then(task);
    lastTask = result.catch(() => {});
    return result;
  };

  /** Starts a new thread after the last one has exited. */
  const reopen = async (): Promise<OpenSqliteError | undefined> => {
    if (lastFailure !== undefined && performance.now() - lastFailure.at < reopenPauseMs)
      return lastFailure.error;
    const data = { path: file.path, file, mayBeNew: false, mustRewrite: thread.mustRewrite() };
    const started = await startCommitThread(data, onHeldWal);
    thread = started.unwrapOr(thread);
    lastFailure = started.isErr() ? { at: performance.now(), error: started.error } : undefined;
    return lastFailure?.error;
  };

  const commit = async (plants: readonly NewPlant[]): Promise<CommitResult> =>
    inTurn(async () => {
      const error = thread.hasExited() ? await reopen() : undefined;
      if (error === undefined) return thread.commit(plants);
      const reason = `the database cannot be opened: ${error.message}`;
      return err({ kind: 'store-unavailable', reason, cause: error.cause });
    });

  const lane: Commit = async (plants) => {
    const committed = await commit(plants);
    return plants.map(({ id }, index): Created => {
      if (committed.isErr()) return err(committed.error);
      const reason = committed.value.get(index);
      if (reason === undefined || reason === 'unchanged') return ok(reason);
      return reason === 'id-taken'
        ? err({ kind: reason, id })
        : err({ kind: 'plant-refused', ...databaseRefusal, cause: reason });
    });
  };
  const group = createGroupCommit({ lanes: [lane], ...(onCommit !== undefined && { onCommit }) });

  const check = async (): Promise<Result<void, StoreUnavailable>> => {
    if (closing !== undefined)
      return err({ kind: 'store-unavailable', reason: 'the database is closed' });
    // An empty batch runs the checks of a commit, and writes nothing.
    return (await commit([])).map(() => undefined);
  };

  const close = async (): Promise<ClosedSqliteRepository> => {
    await thread.close();
    const replaced = findReplaced(file)?.message;
    closeFile(file);
    return { walLeft: walSize(file.name) > 0 ? `${file.name}-wal` : undefined, replaced };
  };

  return {
    create: group.create,
    check: () => new ResultAsync(check()),
    waiting: group.waiting,
    walSize: () => walSize(file.name),
    close: async () => (closing ??= group.close().then(async () => inTurn(close))),
  };
}
