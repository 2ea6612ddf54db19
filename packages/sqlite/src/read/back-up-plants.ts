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
 * plant that was acknowledged before the backup started. It is written by `VACUUM INTO` to a temporary file
 * `TO.RANDOM.partial`, which an interrupted backup can leave, and gets its name after an integrity check and a sync. No file
 * is ever replaced. The copy is complete without a WAL file. That of the source cannot be reset while it is copied.
 *
 * @returns the number of plants and the size of the copy, or the reason why the backup failed
 *
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
  return new ResultAsync(copy('backup', options));
}

/**
 * Creates a database file as a copy of a backup, in the same way as {@link backUpPlants}. Never replaces a database: close
 * and move an existing one away first, with the files beside it. As root, the file belongs to the owner of the backup, or of
 * its folder if the backup is root's.
 *
 * @returns the number of plants and the size of the file, or the reason why the restore failed
 */
export function restorePlants(options: BackUpOptions): ResultAsync<PlantsBackup, BackUpError> {
  return new ResultAsync(copy('restore', options));
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
export type BackUpRefused = {
  /** Discriminates the error from {@link OpenSqliteError}. */
  readonly kind: 'exists' | 'no-hard-links';
  /** The file, as an absolute path. */
  readonly path: string;
  /** Message for the operator: what happened, then what to do. */
  readonly message: string;
};

/** A complete copy, synced to the disk. */
export type PlantsBackup = {
  /** Number of plants in the copy. */
  readonly plants: number;
  /** Size of the copy, in bytes. */
  readonly size: number;
};

export type Copied = Result<PlantsBackup, BackUpError>;

/** What the backup worker copies, as absolute paths. */
export type CopyOrder = {
  readonly command: 'backup' | 'restore';
  readonly from: string;
  readonly to: string;
};

/** The message of the backup worker, which then exits. */
export type FromBackupWorker =
  | { readonly kind: 'done'; readonly copy: PlantsBackup }
  | { readonly kind: 'failed'; readonly error: BackUpError };

async function copy(command: CopyOrder['command'], options: BackUpOptions): Promise<Copied> {
  const [from, to] = [absolutePath(options.from), absolutePath(options.to)];
  if (from.isErr()) return err(from.error);
  if (to.isErr()) return err(to.error);
  const workerData: CopyOrder = { command, from: from.value, to: to.value };
  const started = startWorker(from.value, { workerData, name: 'backup' }, (workerOptions) => {
    // Bundlers recognize this form only. The build replaces .ts with .mjs.
    return new Worker(new URL('./backup-worker.ts', import.meta.url), workerOptions);
  });
  if (started.isErr()) return err(started.error);
  const [message] = (await once(started.value, 'message')) as [FromBackupWorker];
  return message.kind === 'done' ? ok(message.copy) : err(message.error);
}
