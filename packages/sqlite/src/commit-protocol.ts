import type { Batch } from './batch.ts';
import type { FileIdentity } from './file-identity.ts';
import type { OpenSqliteError } from './open-error.ts';

/** What the commit worker is started with. */
export type WorkerData = {
  readonly path: string;
  /** The file that it must be, where it was open before. */
  readonly identity: FileIdentity | undefined;
  /** Whether a sync of it failed in the thread before. */
  readonly mustRewrite: boolean;
};

/** What the worker is told. */
export type ToWorker =
  { readonly kind: 'commit'; readonly batch: Batch } | { readonly kind: 'close' };

/** What the worker tells; after `cannot-open` and `failed` it ends. */
export type FromWorker =
  | { readonly kind: 'opened'; readonly identity: FileIdentity }
  | { readonly kind: 'cannot-open'; readonly error: OpenSqliteError }
  | {
      readonly kind: 'committed';
      readonly taken: readonly number[];
      /** Size of the log, where another program has kept it from being emptied for long. */
      readonly heldLog: number | undefined;
    }
  | { readonly kind: 'refused'; readonly reason: string; readonly cause: unknown }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly cause: unknown;
      /** Whether the disk may lack what was written since the last sync that succeeded. */
      readonly mustRewrite: boolean;
    };
