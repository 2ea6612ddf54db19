import { resolve } from 'node:path';
import type { NewPlant, PlantRepository, StoreUnavailable } from '@plantstore/core';
import {
  type Commit,
  type CommittedBatch,
  type Created,
  createGroupCommit,
} from '@plantstore/core/group-commit';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { type CommitResult, type CommitThread, startCommitThread } from './commit-thread.ts';
import { inTurn } from './in-turn.ts';
import { logLeftBy, logSize, withoutLinks } from './log-file.ts';
import type { OpenSqliteError } from './open-error.ts';

/** What closing a repository left beside its file. */
export type ClosedSqliteRepository = {
  /**
   * Path of a log that holds the newest plants, because a full or failing disk, or another program that reads,
   * kept them from the file: a copy of the file needs it. `undefined` where the file is complete.
   */
  readonly logLeft: string | undefined;
};

/** A plant repository on a database file. */
export type SqliteRepository = PlantRepository & {
  /**
   * Whether a plant could be kept now, as far as can be told without writing one: the file is there
   * and its thread answers. A file that was put back is opened again.
   */
  readonly check: () => ResultAsync<void, StoreUnavailable>;
  /** Number of creates without a result. */
  readonly waiting: () => number;
  /** Size of the log (`plants.db-wal`), in bytes; 0 where there is none, or where it cannot be seen. */
  readonly logSize: () => number;
  /**
   * Closes the file; later creates return `store-unavailable`. Closing again does nothing.
   * An acknowledged plant is on the disk whether or not this is ever called.
   */
  readonly close: () => Promise<ClosedSqliteRepository>;
};

/** How long a file that could not be opened again is left alone, in milliseconds. */
const reopenPauseMs = 1_000;

/** Commits in the thread there is, and starts another one when it has ended. */
const createRecoveringCommit = (
  path: string,
  first: CommitThread,
  onHeldLog: (size: number) => void,
) => {
  const { identity } = first;
  let thread = first;
  let lastFailure: { readonly at: number; readonly error: OpenSqliteError } | undefined;

  const reopen = async (): Promise<OpenSqliteError | undefined> => {
    if (lastFailure !== undefined && performance.now() - lastFailure.at < reopenPauseMs) {
      return lastFailure.error;
    }
    const mustRewrite = thread.mustRewrite();
    const started = await startCommitThread({ path, identity, mustRewrite }, onHeldLog);
    if (started.isOk()) thread = started.value;
    lastFailure = started.isErr() ? { at: performance.now(), error: started.error } : undefined;
    return lastFailure?.error;
  };

  const commit = async (plants: readonly NewPlant[]): Promise<CommitResult> => {
    const error = thread.hasEnded() ? await reopen() : undefined;
    if (error === undefined) return thread.commit(plants);
    const { message, cause } = error;
    return err({ kind: 'store-unavailable', reason: `the database ${message}`, cause });
  };
  return { commit, close: async () => thread.close() };
};

const created: Created = ok();

const repositoryOn = (
  path: string,
  thread: CommitThread,
  onHeldLog: (size: number) => void,
  onCommit: SqliteOptions['onCommit'],
): SqliteRepository => {
  const { commit, close } = createRecoveringCommit(path, thread, onHeldLog);
  const takeTurn = inTurn();
  const lane: Commit = async (plants) => {
    const committed = await takeTurn(async () => commit(plants));
    return plants.map(({ id }, index): Created => {
      if (committed.isErr()) return err(committed.error);
      return committed.value.has(index) ? err({ kind: 'id-taken', id }) : created;
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
    // A batch without plants: a transaction that writes nothing, and every check that comes with it.
    return (await takeTurn(async () => commit([]))).map(() => undefined);
  };

  return {
    create: group.create,
    check: () => new ResultAsync(check()),
    waiting: group.waiting,
    logSize: () => {
      try {
        return logSize(withoutLinks(path));
      } catch {
        return 0;
      }
    },
    close: async () => {
      closing ??= group
        .close()
        .then(async () => takeTurn(close))
        .then(() => ({ logLeft: logLeftBy(path) }));
      return closing;
    },
  };
};

/** Options of {@link openSqliteRepository}. */
export type SqliteOptions = {
  /** The database file, relative to the working directory or absolute. */
  readonly path: string;
  /**
   * Called when the log (`plants.db-wal`) has grown to 64 MiB, because another program has been reading the file in one
   * transaction since, and each time that the log has doubled. Default: nothing is called.
   */
  readonly onHeldLog?: (log: HeldLog) => void;
  /** Called after each commit, for metrics. Default: nothing is called. */
  readonly onCommit?: (batch: CommittedBatch) => void;
};

/** A log that cannot be emptied, because another program still reads what was before it. */
export type HeldLog = {
  /** Path of the log. */
  readonly log: string;
  /** Size of the log, in bytes. */
  readonly size: number;
};

const open = async (
  path: string,
  onHeldLog: (log: HeldLog) => void,
  onCommit: SqliteOptions['onCommit'],
): Promise<Result<SqliteRepository, OpenSqliteError>> => {
  // What it throws is no failure of the commit that found out.
  const report = (size: number) =>
    queueMicrotask(() => onHeldLog({ log: `${withoutLinks(path)}-wal`, size }));
  const data = { path, identity: undefined, mustRewrite: false };
  return (await startCommitThread(data, report)).map((thread) =>
    repositoryOn(path, thread, report, onCommit),
  );
};

/**
 * Opens a plant repository on a SQLite file, through Node's own `node:sqlite`. A file that is not
 * there is made. A create resolves once the plant is on the disk (`journal_mode=WAL`,
 * `synchronous=FULL`), so it survives `kill -9` and a power cut. The file has one owner: while it is
 * open here, no other process can open it as a repository. Other programs can read it.
 *
 * @returns the repository, or why the file cannot be used, with a `message` for the operator
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
export const openSqliteRepository = ({
  path,
  onHeldLog = () => {},
  onCommit,
}: SqliteOptions): ResultAsync<SqliteRepository, OpenSqliteError> =>
  new ResultAsync(open(resolve(path), onHeldLog, onCommit));
