import type { OpenSqliteError } from './open-error.ts';

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
  | { readonly kind: 'failed'; readonly error: OpenSqliteError };
