// webpack recognizes a worker of `worker_threads`, and not of `node:worker_threads`.
// oxlint-disable-next-line unicorn/prefer-node-protocol
import { isMainThread, Worker } from 'worker_threads';
import { closeSync, constants, copyFileSync, fstatSync } from 'node:fs';
import type { NewPlant, StoreUnavailable } from '@plantstore/core';
import { err, ok, type Result } from 'neverthrow';
import { type Batch, toBatch } from '../open/columns.ts';
import { forgetConnections, withoutConnections } from '../open/connection.ts';
import { openError, type OpenSqliteError } from '../open/errors.ts';
import { findReplaced, type OpenedFile } from '../open/path.ts';
import { startWorker } from '../open/worker.ts';
import type { Expected } from './owned-database.ts';
import type { NotInserted } from './statements.ts';

/** Start parameters of the commit worker. */
export type WorkerData = Expected & {
  readonly path: string;
  /** The file that must be at the path. `undefined` if no file is there: the worker creates it, and exits. */
  readonly file: OpenedFile | undefined;
};

/** Messages to the commit worker. */
export type ToWorker =
  { readonly kind: 'commit'; readonly batch: Batch } | { readonly kind: 'close' };

/** Messages from the commit worker. It exits after `cannot-open` and `failed`. */
export type FromWorker =
  | { readonly kind: 'opened' }
  | { readonly kind: 'cannot-open'; readonly error: OpenSqliteError }
  | {
      readonly kind: 'committed';
      readonly notInserted: NotInserted;
      /** Size of the WAL file, when it is due to be reported as held by a reader. */
      readonly heldWal: number | undefined;
    }
  | {
      readonly kind: 'refused' | 'failed';
      readonly reason: string;
      readonly cause?: unknown;
      /** Whether writes since the last successful sync may be missing from the disk. Default: `false`. */
      readonly mustRewrite?: boolean;
    };

/** The plants that are not inserted; the others are committed. */
export type CommitResult = Result<NotInserted, StoreUnavailable>;

/** A worker thread that owns the database, so that fsync does not block the event loop. */
export type CommitThread = {
  readonly hasExited: () => boolean;
  /** Whether a sync failed: the next thread must rewrite the data that may be missing from the disk. */
  readonly mustRewrite: () => boolean;
  /** Commits a batch. The caller waits for each batch before the next one. */
  readonly commit: (plants: readonly NewPlant[]) => Promise<CommitResult>;
  readonly close: () => Promise<void>;
};

/** Starts a worker thread that opens the file, or creates it. */
export async function startCommitThread(
  workerData: WorkerData,
  onHeldWal: (size: number) => void,
): Promise<Result<CommitThread, OpenSqliteError>> {
  const held = new Int32Array(new SharedArrayBuffer(16));
  const data = { workerData: { ...workerData, held }, name: 'plantstore' };
  const started = startWorker(workerData.path, data, (options) => {
    // Bundlers recognize this form only. The build replaces .ts with .mjs.
    return new Worker(new URL('./commit-worker.ts', import.meta.url), options);
  });
  if (started.isErr()) return err(started.error);
  const worker = started.value;
  let hasExited = false;
  let crash: unknown;
  let mustRewrite = false;
  let onReply: (reply: FromWorker | undefined) => void = () => {};
  worker.on('message', (reply: FromWorker) => onReply(reply));
  // Without a listener, an exception in the worker would end this process.
  worker.on('error', (thrown) => {
    crash = thrown;
  });
  const exited = new Promise<void>((resolve) => void worker.once('exit', () => resolve()));
  worker.once('exit', () => {
    hasExited = true;
    release(held, workerData.file);
    onReply(undefined);
  });

  /** Resolves to the next message from the worker, or `undefined` when it exits without one. */
  const nextReply = async (): Promise<FromWorker | undefined> =>
    hasExited ? undefined : new Promise((resolve) => void (onReply = resolve));

  const first = await nextReply();
  if (first?.kind === 'cannot-open') return err(first.error);
  if (first?.kind !== 'opened') {
    const reason = crash instanceof Error ? crash.message : 'its worker thread exited';
    const message = `${workerData.path} cannot be opened: ${reason}`;
    return err(openError(workerData.path, { kind: 'unexpected', message, cause: crash }));
  }
  // Only a create in flight keeps the process alive, not an open repository.
  worker.unref();

  return ok({
    hasExited: () => hasExited,
    mustRewrite: () => mustRewrite,
    async commit(plants) {
      const batch = toBatch(plants);
      worker.ref();
      const received = nextReply();
      worker.postMessage({ kind: 'commit', batch } satisfies ToWorker);
      const reply = await received;
      // The worker must release the file before the next thread opens it.
      if (reply?.kind === 'failed') {
        mustRewrite = reply.mustRewrite === true;
        await exited;
      }
      worker.unref();
      if (reply?.kind === 'refused' || reply?.kind === 'failed')
        return unavailable(reply.reason, reply.cause);
      if (reply?.kind !== 'committed') return unavailable('the commit worker crashed', crash);
      if (reply.heldWal !== undefined) onHeldWal(reply.heldWal);
      return ok(reply.notInserted);
    },
    async close() {
      worker.ref();
      worker.postMessage({ kind: 'close' } satisfies ToWorker);
      await exited;
    },
  });
}

/** Releases what a thread had open that was ended before it could close it. In a thread of the host, Node closes it. */
function release(held: Int32Array, file: OpenedFile | undefined): void {
  const [connections = 0, ...descriptors] = held;
  if (file === undefined || connections === 0) return;
  forgetConnections(file.descriptor, connections);
  if (!isMainThread) return;
  putBackWal(file, descriptors);
  withoutConnections(file.descriptor, () => {
    for (const descriptor of descriptors) if (descriptor > 0) closeSync(descriptor);
  });
}

/** Puts a WAL file back that was removed or moved, unless SQLite removed it with its index: the thread could not copy its plants. */
function putBackWal(file: OpenedFile, [, wal = 0, walIndex = 0]: readonly number[]): void {
  if (wal === 0 || fstatSync(walIndex).nlink === 0 || findReplaced(file) !== undefined) return;
  try {
    copyFileSync(`/dev/fd/${wal}`, `${file.name}-wal`, constants.COPYFILE_EXCL);
  } catch {
    // It is there, as it usually is, or the disk is full.
  }
}

function unavailable(reason: string, cause: unknown): CommitResult {
  return err({ kind: 'store-unavailable', reason, ...(cause !== undefined && { cause }) });
}
