import { Worker } from 'node:worker_threads';
import type { NewPlant, StoreUnavailable } from '@plantstore/core';
import { err, ok, type Result } from 'neverthrow';
import { toBatch } from './batch.ts';
import type { FromWorker, ToWorker, WorkerData } from './commit-protocol.ts';
import type { FileIdentity } from './file-identity.ts';
import type { OpenSqliteError } from './open-error.ts';

/** The indexes of the plants whose ids are taken; the others are committed. */
export type CommitResult = Result<ReadonlySet<number>, StoreUnavailable>;

/** A thread of its own that owns the database, so that no fsync holds up the event loop. */
export type CommitThread = {
  readonly identity: FileIdentity;
  /** Whether the thread has ended, by itself or because it was closed. */
  readonly hasEnded: () => boolean;
  /** Whether a sync failed: the next thread must write again what may not be on the disk. */
  readonly mustRewrite: () => boolean;
  /** One at a time. */
  readonly commit: (plants: readonly NewPlant[]) => Promise<CommitResult>;
  readonly close: () => Promise<void>;
};

// Beside this file stands the worker: as it was written, or as it was built.
const workerFile = new URL(
  import.meta.url.endsWith('.ts') ? './commit-worker.ts' : './commit-worker.js',
  import.meta.url,
);

const unavailable = (reason: string, cause: unknown): CommitResult =>
  err({ kind: 'store-unavailable', reason, ...(cause !== undefined && { cause }) });

const resultOf = (told: FromWorker): CommitResult => {
  switch (told.kind) {
    case 'committed':
      return ok(new Set(told.taken));
    case 'refused':
    case 'failed':
      return unavailable(told.reason, told.cause);
    case 'opened':
    case 'cannot-open':
      throw new Error(`the commit worker said "${told.kind}" to a batch`);
  }
};

/** The thread ended before it had opened the file. */
const startError = (path: string, cause: unknown): OpenSqliteError => {
  const reason = cause instanceof Error ? cause.message : 'its thread ended';
  return { kind: 'unexpected', path, message: `${path} cannot be opened: ${reason}`, cause };
};

/** Starts the thread and opens the file in it. */
export const startCommitThread = async (
  data: WorkerData,
  onHeldLog: (size: number) => void,
): Promise<Result<CommitThread, OpenSqliteError>> => {
  const worker = new Worker(workerFile, { workerData: data, execArgv: [], name: 'plantstore' });
  let ended = false;
  let crash: unknown;
  let mustRewrite = false;
  let hear: (told: FromWorker | undefined) => void = () => {};
  worker.on('message', (told: FromWorker) => hear(told));
  // Without a listener, what the worker throws would end this process.
  worker.on('error', (thrown) => {
    crash = thrown;
  });
  const exited = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      ended = true;
      hear(undefined);
      resolve();
    });
  });

  /** The next thing the worker tells, or `undefined` when it ends without a word. */
  const nextMessage = async (): Promise<FromWorker | undefined> =>
    ended ? undefined : new Promise((resolve) => void (hear = resolve));

  const first = await nextMessage();
  if (first?.kind === 'cannot-open') return err(first.error);
  if (first?.kind !== 'opened') return err(startError(data.path, crash));
  // An open repository alone does not keep a process alive; a create on its way does.
  worker.unref();

  return ok({
    identity: first.identity,
    hasEnded: () => ended,
    mustRewrite: () => mustRewrite,
    async commit(plants) {
      const batch = toBatch(plants);
      worker.ref();
      const answer = nextMessage();
      worker.postMessage({ kind: 'commit', batch } satisfies ToWorker);
      const told = await answer;
      if (told === undefined) return unavailable('the commit worker crashed', crash);
      // It gives the file up first, so that the next thread can have it.
      if (told.kind === 'failed') {
        ({ mustRewrite } = told);
        await exited;
      }
      worker.unref();
      if (told.kind === 'committed' && told.heldLog !== undefined) onHeldLog(told.heldLog);
      return resultOf(told);
    },
    async close() {
      if (ended) return;
      worker.ref();
      worker.postMessage({ kind: 'close' } satisfies ToWorker);
      await exited;
    },
  });
};
