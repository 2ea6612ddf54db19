import { rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { type BackupProgress, backUpPlants, type PlantsBackup } from './back-up-plants.ts';
import type { BackUpError } from './backup-protocol.ts';
import { identityOf, isSameFile } from './file-identity.ts';
import { withoutLinks } from './log-file.ts';
import { openErrorOf, unusableFileError } from './open-error.ts';
import { copyRights, takeGuard } from './owner-guard.ts';
import { replaceFile } from './replace-file.ts';

/** Options of {@link restorePlants}. */
export type RestoreOptions = {
  /** The backup, relative to the working directory or absolute. It is not changed. */
  readonly from: string;
  /** The database file to restore. It need not exist. */
  readonly to: string;
  /** Called while pages are copied. Default: nothing is called. */
  readonly onProgress?: (progress: BackupProgress) => void;
};

/** A database file that was restored. */
export type RestoredPlants = PlantsBackup & {
  /**
   * Path of the file that was replaced; its log, if it had one, is beside it with `-wal` added. `undefined` where there was no
   * file.
   */
  readonly kept: string | undefined;
};

/** The backup and the file to restore are one. */
export type SameFile = {
  /** What is wrong, in one word. */
  readonly kind: 'same-file';
  /** The file, as an absolute path. */
  readonly path: string;
  /** For the operator: what is wrong and what to do about it. */
  readonly message: string;
};

/** Why a file was not restored. `path` is the file that is concerned. */
export type RestoreError = BackUpError | SameFile;

const copyAndReplace = async (
  file: string,
  { from, onProgress }: RestoreOptions,
): Promise<Result<RestoredPlants, RestoreError>> => {
  const copy = `${file}.restoring`;
  rmSync(copy, { force: true });
  const copied = await backUpPlants({ from, to: copy, ...(onProgress && { onProgress }) });
  if (copied.isErr()) return err(copied.error);
  copyRights(file, copy);
  return ok({ ...copied.value, kept: replaceFile(file, copy) });
};

const restore = async (options: RestoreOptions): Promise<Result<RestoredPlants, RestoreError>> => {
  const path = resolve(options.to);
  try {
    const file = withoutLinks(path);
    if (isSameFile(identityOf(options.from), identityOf(file))) {
      const message = `${path} and ${options.from} are one file; name another one`;
      return err({ kind: 'same-file', path, message });
    }
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) {
      return err(unusableFileError(path, { kind: 'cannot-open' }));
    }
    const guard = takeGuard(file);
    try {
      return await copyAndReplace(file, options);
    } finally {
      guard.close();
    }
  } catch (thrown) {
    const error = openErrorOf(path, thrown);
    if (error === undefined) throw thrown;
    return err(error);
  }
};

/**
 * Puts a copy of a backup in the place of a database file that no repository has open. The backup is checked, copied and
 * synced before it takes the place of the file, and no log of the old file can mix with it. What it replaces keeps another
 * name: the file's, with `.replaced-` and the time added. After an interruption, call it again: until it returns,
 * the file is the old one with its log, the new one, or a text that no repository opens.
 *
 * Close other programs that have the file open: some of them would remove the log of the new file. Needs a file system
 * with hard links.
 *
 * @example
 * ```ts
 * import { restorePlants } from '@plantstore/sqlite';
 *
 * const restored = await restorePlants({ from: 'backup.db', to: 'plants.db' });
 * if (restored.isErr()) throw new Error(restored.error.message);
 * console.log(`${restored.value.plants} plants; the file before is ${restored.value.kept}`);
 * ```
 */
export const restorePlants = (options: RestoreOptions): ResultAsync<RestoredPlants, RestoreError> =>
  new ResultAsync(restore(options));
