import type { OpenSqliteError } from './open-error.ts';

/** Reason why a backup failed. `path` is the affected file. */
export type BackUpError = OpenSqliteError | BackUpExists;

/** The path of the copy already exists, or belongs to a file that a repository uses. */
export type BackUpExists = {
  /** Discriminates the error from {@link OpenSqliteError}. */
  readonly kind: 'exists';
  /** The file, as an absolute path. */
  readonly path: string;
  /** Message for the operator: what happened, then what to do. */
  readonly message: string;
};

/** Absolute paths of a backup. */
export type BackupPaths = {
  readonly from: string;
  readonly to: string;
  /** Path of the copy until it is complete. */
  readonly partial: string;
  /** Whether the copy may replace a file. */
  readonly replace: boolean;
};

/** Messages from the backup worker. It exits after `done` and `failed`. */
export type FromBackupWorker =
  | { readonly kind: 'progress'; readonly copied: number; readonly total: number }
  | { readonly kind: 'done'; readonly plants: number; readonly size: number }
  | { readonly kind: 'failed'; readonly error: BackUpError };
