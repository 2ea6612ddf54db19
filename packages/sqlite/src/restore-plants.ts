import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { type BackupProgress, backUpPlants, type PlantsBackup } from './back-up-plants.ts';
import type { BackUpError } from './backup-protocol.ts';
import { acquireFile } from './database-file.ts';
import { identityOf, isSameFile } from './file-identity.ts';
import { resolveLinks } from './log-file.ts';
import { openErrorOf, unusableFileError } from './open-error.ts';
import { copyPermissions } from './owner-lock.ts';
import { replaceFile } from './replace-file.ts';

/** Options of {@link restorePlants}. */
export type RestoreOptions = {
  /** Path of the backup, absolute or relative to the working directory. It is not changed. */
  readonly from: string;
  /** Path of the database file to restore. A missing file is created. */
  readonly to: string;
  /** Called while pages are copied. Default: none. */
  readonly onProgress?: (progress: BackupProgress) => void;
};

/** A restored database file. */
export type RestoredPlants = PlantsBackup & {
  /**
   * Path of the replaced file. Its WAL file, if any, has the same path with the suffix `-wal`. `undefined` when there was
   * no file.
   */
  readonly kept: string | undefined;
};

/** The backup and the file to restore are the same file. */
export type SameFile = {
  /** Discriminates the error from {@link BackUpError}. */
  readonly kind: 'same-file';
  /** The file, as an absolute path. */
  readonly path: string;
  /** Message for the operator: what happened, then what to do. */
  readonly message: string;
};

/** Reason why a restore failed. `path` is the affected file. */
export type RestoreError = BackUpError | SameFile;

const copyAndReplace = async (
  file: string,
  { from, onProgress }: RestoreOptions,
): Promise<Result<RestoredPlants, RestoreError>> => {
  const copy = `${file}.restoring`;
  rmSync(copy, { force: true });
  const copied = await backUpPlants({ from, to: copy, ...(onProgress && { onProgress }) });
  if (copied.isErr()) return err(copied.error);
  copyPermissions(file, copy);
  return ok({ ...copied.value, kept: replaceFile(file, copy) });
};

const restore = async (options: RestoreOptions): Promise<Result<RestoredPlants, RestoreError>> => {
  const path = resolve(options.to);
  try {
    const file = resolveLinks(path);
    if (isSameFile(identityOf(options.from), identityOf(file))) {
      const message = `${path} and ${options.from} are the same file; name another file`;
      return err({ kind: 'same-file', path, message });
    }
    const ownerLock = acquireFile(file);
    if ('kind' in ownerLock) return err(unusableFileError(path, ownerLock));
    try {
      return await copyAndReplace(file, options);
    } finally {
      ownerLock.close();
    }
  } catch (thrown) {
    const error = openErrorOf(path, thrown);
    if (error === undefined) throw thrown;
    return err(error);
  }
};

/**
 * Replaces a database file that no repository has open with a copy of a backup. The backup is copied, checked and
 * synced first, and the WAL file of the old database is never applied to it. The replaced file is kept under its name
 * with the suffix `.replaced-` and the time. After an interruption, call this again: until it returns, the file
 * is the old database with its WAL file, the new database, or a text file that no repository opens.
 *
 * Close other programs that have the file open: some of them would remove the WAL file of the new database. Requires a
 * file system with hard links.
 *
 * @returns the number of plants, the size and the path of the replaced file, or the reason why the restore failed
 *
 * @example
 * ```ts
 * import { restorePlants } from '@plantstore/sqlite';
 *
 * const restored = await restorePlants({ from: 'backup.db', to: 'plants.db' });
 * if (restored.isErr()) throw new Error(restored.error.message);
 * console.log(`${restored.value.plants} plants; the replaced file is ${restored.value.kept}`);
 * ```
 */
export const restorePlants = (options: RestoreOptions): ResultAsync<RestoredPlants, RestoreError> =>
  new ResultAsync(restore(options));
