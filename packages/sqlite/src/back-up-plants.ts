import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { BackUpError, BackupPaths, FromBackupWorker } from './backup-protocol.ts';
import { workerFile } from './worker-file.ts';

/** Options of {@link backUpPlants}. */
export type BackUpOptions = {
  /** The database file to copy, relative to the working directory or absolute. */
  readonly from: string;
  /** Path of the copy. */
  readonly to: string;
  /**
   * Whether to replace an existing file at `to`, once the copy is complete. A file that a repository has or had open is never
   * replaced. Default: `false`.
   */
  readonly replace?: boolean;
  /** Called while pages are copied. Default: none. */
  readonly onProgress?: (progress: BackupProgress) => void;
};

/** Progress of a backup, in database pages. */
export type BackupProgress = {
  /** Number of pages copied so far. */
  readonly copied: number;
  /** Number of pages of the database. */
  readonly total: number;
};

/** A complete backup, synced to the disk. */
export type PlantsBackup = {
  /** Number of plants in the backup. */
  readonly plants: number;
  /** Size of the backup, in bytes. */
  readonly size: number;
};

const backUp = async (
  paths: BackupPaths,
  onProgress: (progress: BackupProgress) => void,
): Promise<Result<PlantsBackup, BackUpError>> => {
  const options = { workerData: paths, execArgv: [], name: 'backup' };
  const worker = new Worker(workerFile('backup'), options);
  return new Promise((settle, reject) => {
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the backup worker exited')));
    worker.on('message', (message: FromBackupWorker) => {
      switch (message.kind) {
        case 'progress':
          return onProgress({ copied: message.copied, total: message.total });
        case 'done':
          return settle(ok({ plants: message.plants, size: message.size }));
        case 'failed':
          return settle(err(message.error));
      }
    });
  });
};

/**
 * Copies a database file in a worker thread, while a repository may have it open and create plants. The copy contains every
 * plant that was acknowledged before the backup started. It is written to `to` with the suffix `.partial`, and renamed to
 * `to` after an integrity check and a sync. A backup that was interrupted leaves the `.partial` file, which the next backup removes.
 *
 * @param options - the paths, and what to do when the backup exists
 * @returns the number of plants and the size of the copy, or the reason why the backup failed
 *
 * @example
 * ```ts
 * import { backUpPlants } from '@plantstore/sqlite';
 *
 * const backedUp = await backUpPlants({ from: 'plants.db', to: 'backup.db' });
 * if (backedUp.isErr()) throw new Error(backedUp.error.message);
 * console.log(`${backedUp.value.plants} plants`);
 * ```
 */
export const backUpPlants = ({
  from,
  to,
  replace = false,
  onProgress = () => {},
}: BackUpOptions): ResultAsync<PlantsBackup, BackUpError> => {
  const path = resolve(to);
  const paths = { from: resolve(from), to: path, partial: `${path}.partial`, replace };
  return new ResultAsync(backUp(paths, onProgress));
};
