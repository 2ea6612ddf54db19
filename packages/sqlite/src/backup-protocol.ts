import type { OpenSqliteError } from './open-error.ts';

/** Why a backup was not made. `path` is the file that is concerned. */
export type BackUpError = OpenSqliteError | BackUpExists;

/** There is a file of the name of the copy. */
export type BackUpExists = {
  /** Tells it from the other errors. */
  readonly kind: 'exists';
  /** The file, as an absolute path. */
  readonly path: string;
  /** For the operator: what is wrong and what to do about it. */
  readonly message: string;
};

/** Absolute paths of a backup. */
export type BackupPaths = {
  readonly from: string;
  readonly to: string;
  /** What the copy is named until it is whole. */
  readonly partial: string;
};

/** What the backup worker sends; after `done` and `failed` it ends. */
export type FromBackupWorker =
  | { readonly kind: 'progress'; readonly copied: number; readonly total: number }
  | { readonly kind: 'done'; readonly plants: number; readonly size: number }
  | { readonly kind: 'failed'; readonly error: BackUpError };
