import type { NewPlant, PlantStore, StoreUnavailable } from '@plantstore/core';
import {
  type CommittedBatch,
  type Created,
  createGroupCommit,
} from '@plantstore/core/group-commit';
import { databaseRefusal } from '@plantstore/core/errors';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { HeldWal } from './commit/checkpoints.ts';
import { Owner } from './commit/owner.ts';
import type { OpenSqliteError } from './open/errors.ts';
import { findWarnings } from './open/faults.ts';
import { absolutePath } from './open/path.ts';
import { walSize } from './open/wal.ts';

/**
 * Opens a plant repository on a SQLite file with `node:sqlite`. Creates the file if it does not
 * exist. A create resolves once the plant is on the disk (`journal_mode=WAL`, `synchronous=FULL`),
 * so that the plant survives `kill -9` and a power cut. Only one repository can have the file open
 * at a time, in this process or another. Other programs can read the file.
 *
 * @returns the repository, or the reason why the file cannot be opened, with a `message` for the
 *   operator
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
  const opened = new ResultAsync(Owner.open(absolutePath(path), onHeldWal));
  return opened.map((owner) => repositoryOf(owner, onCommit));
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

/** Result of closing a repository. */
export type ClosedSqliteRepository = {
  /** The WAL file, if it has the latest plants: the last checkpoint failed. Copy both then. */
  readonly walLeft: string | undefined;
  /** Where the plants are and what to do, if the file was removed, renamed or replaced. */
  readonly replaced: string | undefined;
};

/** A plant repository on a database file. */
export interface SqliteRepository extends PlantStore {
  /** Messages for the operator, such as for a file in memory (tmpfs), to log once. */
  readonly warnings: readonly string[];
  /**
   * Size of the WAL file (`plants.db-wal`), in bytes; 0 without one, `undefined` when it is
   * inaccessible.
   */
  readonly walSize: () => number | undefined;
  /** As of every store; the result names what an operator should look at. */
  readonly close: () => Promise<ClosedSqliteRepository>;
}

function repositoryOf(owner: Owner, onCommit: SqliteOptions['onCommit']): SqliteRepository {
  const group = createGroupCommit({ lanes: [lane], ...(onCommit !== undefined && { onCommit }) });
  let closing: Promise<ClosedSqliteRepository> | undefined;
  const { name } = owner;
  return {
    warnings: findWarnings(name),
    create: group.create,
    check: () => new ResultAsync(check()),
    waiting: group.waiting,
    walSize: () => walSize(name),
    close: async () => (closing ??= close()),
  };

  async function lane(plants: readonly NewPlant[]): Promise<Created[]> {
    const committed = await owner.commit(plants);
    return plants.map(({ id }, index): Created => {
      if (committed.isErr()) return err(committed.error);
      const reason = committed.value.get(index);
      if (reason === undefined || reason === 'unchanged') return ok(reason);
      return reason === 'id-taken'
        ? err({ kind: reason, id })
        : err({ kind: 'plant-refused', ...databaseRefusal, cause: reason });
    });
  }

  async function check(): Promise<Result<void, StoreUnavailable>> {
    if (closing !== undefined)
      return err({ kind: 'store-unavailable', reason: 'the database is closed' });
    // An empty batch runs the checks of a commit, and writes nothing.
    return (await owner.commit([])).map(() => undefined);
  }

  async function close(): Promise<ClosedSqliteRepository> {
    await group.close();
    const replaced = await owner.close();
    return { walLeft: (walSize(name) ?? 0) > 0 ? `${name}-wal` : undefined, replaced };
  }
}
