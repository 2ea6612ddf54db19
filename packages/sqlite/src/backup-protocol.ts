import type { OpenSqliteError } from './open-error.ts';

/** Reason why a backup or a restore failed. `path` is the affected file. */
export type BackUpError = OpenSqliteError | BackUpRefused;

/**
 * The copy cannot have its name: the file or one beside it already exists, or the file system has no hard links, without
 * which a file cannot be named without replacing another one.
 */
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
