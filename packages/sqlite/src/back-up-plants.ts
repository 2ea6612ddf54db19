import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { BackUpError, BackupPaths, FromBackupWorker } from './backup-protocol.ts';

/** Options of {@link backUpPlants}. */
export type BackUpOptions = {
  /** The database file to copy, relative to the working directory or absolute. */
  readonly from: string;
  /** Path of the copy. Nothing may have this name yet. */
  readonly to: string;
  /** Called while pages are copied. Default: nothing is called. */
  readonly onProgress?: (progress: BackupProgress) => void;
};

/** How much of a backup is done, in pages of the database. */
export type BackupProgress = {
  /** Number of pages that are copied. */
  readonly copied: number;
  /** Number of pages of the database. */
  readonly total: number;
};

/** A backup that is whole and on the disk. */
export type PlantsBackup = {
  /** Number of plants in it. */
  readonly plants: number;
  /** Size of the file, in bytes. */
  readonly size: number;
};

const workerFile = new URL(
  import.meta.url.endsWith('.ts') ? './backup-worker.ts' : './backup-worker.js',
  import.meta.url,
);

const backUp = async (
  paths: BackupPaths,
  onProgress: (progress: BackupProgress) => void,
): Promise<Result<PlantsBackup, BackUpError>> => {
  const worker = new Worker(workerFile, { workerData: paths, execArgv: [], name: 'backup' });
  return new Promise((settle, reject) => {
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the backup worker ended')));
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
 * Copies a SQLite file, whether or not a repository has it open. Creates go on meanwhile. The copy has every plant that was
 * acknowledged before it began. It is named `to` once it is complete, checked and on the disk; until then it is `to` with
 * `.partial` added. After an interruption the next backup removes that. A thread of its own does the work.
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
  onProgress = () => {},
}: BackUpOptions): ResultAsync<PlantsBackup, BackUpError> =>
  new ResultAsync(
    backUp({ from: resolve(from), to: resolve(to), partial: `${resolve(to)}.partial` }, onProgress),
  );
