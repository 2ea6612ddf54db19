import type { Batch } from './batch.ts';
import type { KeptFile } from './kept-file.ts';
import type { OpenSqliteError } from './open-error.ts';

/** Start parameters of the commit worker. */
export type WorkerData = {
  readonly path: string;
  /** The file that must still be at the path; `undefined` when it is opened for the first time. */
  readonly kept: KeptFile | undefined;
  /** Whether a sync of the file failed in the previous thread. */
  readonly mustRewrite: boolean;
};

/** Why plants of a batch are not stored, by their indexes: an exception of SQLite if it does not accept the content. */
export type Rejected = ReadonlyMap<number, 'id-taken' | Error>;

/** Messages to the commit worker. */
export type ToWorker =
  { readonly kind: 'commit'; readonly batch: Batch } | { readonly kind: 'close' };

/** Messages from the commit worker. It exits after `cannot-open` and `failed`. */
export type FromWorker =
  | { readonly kind: 'opened'; readonly kept: KeptFile }
  | { readonly kind: 'cannot-open'; readonly error: OpenSqliteError }
  | {
      readonly kind: 'committed';
      readonly rejected: Rejected;
      /** Size of the WAL file in bytes, when it is due to be reported as held by a reader. */
      readonly heldWal: number | undefined;
    }
  | { readonly kind: 'refused'; readonly reason: string; readonly cause: unknown }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly cause?: unknown;
      /** Whether writes since the last successful sync may be missing from the disk. Default: `false`. */
      readonly mustRewrite?: boolean;
    };
