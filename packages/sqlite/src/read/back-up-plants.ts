import { once } from 'node:events';
// webpack recognizes a worker of `worker_threads`, and not of `node:worker_threads`.
// oxlint-disable-next-line unicorn/prefer-node-protocol
import { Worker } from 'worker_threads';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { OpenSqliteError } from '../open/errors.ts';
import { absolutePath } from '../open/path.ts';
import { startWorker } from '../open/worker.ts';

/**
 * Copies a database file in a worker thread, while a repository may have it open and create plants. The copy contains every
 * plant that was acknowledged before the backup started, and is complete without a WAL file. `VACUUM INTO` writes it to a
 * file `TO.RANDOM.partial`, which an interrupted backup can leave; it gets its name, which no file may have, once it is
 * checked and synced. The WAL of the source cannot be reset meanwhile.
 *
 * @returns the number of plants and the size of the copy, or the reason why the backup failed
 * @example
 * ```ts
 * import { backUpPlants } from '@plantstore/sqlite';
 *
 * const backedUp = await backUpPlants({ from: 'plants.db', to: 'backup.db' });
 * if (backedUp.isErr()) throw new Error(backedUp.error.message);
 * console.log(`plants: ${backedUp.value.plants}`);
 * ```
 */
export function backUpPlants(options: BackUpOptions): ResultAsync<PlantsBackup, BackUpError> {
  return new ResultAsync(copy({ ...options, command: 'backup' }));
}

/**
 * Creates a database file as a copy of a backup, in the same way as {@link backUpPlants}. Never replaces a database: close
 * and move an existing one away first, with the files beside it. As root, the file belongs to the owner of the backup, or of
 * its folder if the backup is root's.
 *
 * @returns the number of plants and the size of the file, or the reason why the restore failed
 */
export function restorePlants(options: BackUpOptions): ResultAsync<PlantsBackup, BackUpError> {
  return new ResultAsync(copy({ ...options, command: 'restore' }));
}

/** Options of {@link backUpPlants} and {@link restorePlants}. */
export type BackUpOptions = {
  /** Path of the file to copy, absolute or relative to the working directory. It is not changed. */
  readonly from: string;
  /** Path of the copy. Neither the file nor a `-wal`, `-shm` or `-journal` file beside it may exist. */
  readonly to: string;
};

/** Reason why a backup or a restore failed. `path` is the affected file. */
export type BackUpError = OpenSqliteError | BackUpRefused;

/** The copy cannot have its name, which a file has, or cannot get it without hard links. */
export type BackUpRefused = Pick<OpenSqliteError, 'path' | 'message'> & {
  /** Discriminates the error from {@link OpenSqliteError}. */
  readonly kind: 'exists' | 'no-hard-links';
};

/** A complete copy, synced to the disk. */
export type PlantsBackup = {
  /** Number of plants in the copy. */
  readonly plants: number;
  /** Size of the copy, in bytes. */
  readonly size: number;
};

/** What is copied. The backup worker receives absolute paths. */
export type CopyOrder = BackUpOptions & { readonly command: 'backup' | 'restore' };

/** The message of the backup worker, which then exits. An error has a `kind`. */
export type Copied = PlantsBackup | BackUpError;

async function copy(order: CopyOrder): Promise<Result<PlantsBackup, BackUpError>> {
  const [from, to] = [absolutePath(order.from), absolutePath(order.to)];
  if (from.isErr()) return err(from.error);
  if (to.isErr()) return err(to.error);
  const workerData: CopyOrder = { command: order.command, from: from.value, to: to.value };
  const started = startWorker(from.value, { workerData, name: 'backup' }, (options) => {
    // Bundlers recognize this form only. The build replaces .ts with .mjs.
    return new Worker(new URL('./backup-worker.ts', import.meta.url), options);
  });
  if (started.isErr()) return err(started.error);
  const [copied] = (await once(started.value, 'message')) as [Copied];
  return 'kind' in copied ? err(copied) : ok(copied);
}
