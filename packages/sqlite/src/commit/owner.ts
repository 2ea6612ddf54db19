// webpack recognizes a worker of `worker_threads`, and not of `node:worker_threads`.
// oxlint-disable-next-line unicorn/prefer-node-protocol
import { Worker } from 'worker_threads';
import { closeSync } from 'node:fs';
import type { NewPlant, StoreUnavailable } from '@plantstore/core';
import { err, ok, type Result } from 'neverthrow';
import { type Batch, toBatch } from '../open/columns.ts';
import { openError, type OpenSqliteError } from '../open/errors.ts';
import { findReplaced, type OpenedFile, type Opening } from '../open/owned-database.ts';
import { attempt, holdInode } from '../open/path.ts';
import type { NotInserted } from '../open/statements.ts';
import type { HeldWal } from './checkpoints.ts';

/** Messages to the commit worker, which starts with the command `create` or `own`. */
export type ToWorker =
  { readonly kind: 'commit'; readonly batch: Batch } | { readonly kind: 'close' };

/** Messages from the commit worker. It exits after `cannot-open` and `failed`. */
export type FromWorker =
  | { readonly kind: 'opened'; readonly file: OpenedFile }
  | { readonly kind: 'cannot-open'; readonly error: OpenSqliteError }
  | {
      readonly kind: 'committed';
      readonly notInserted: NotInserted;
      /** The WAL file, when it is due to be reported as held by a reader. */
      readonly heldWal: HeldWal | undefined;
    }
  | NotCommitted;

/** Why a batch is not committed. */
export type NotCommitted = {
  readonly kind: 'refused' | 'failed';
  readonly reason: string;
  readonly cause?: unknown;
  /** Whether writes since the last successful sync may be missing from the disk. */
  readonly mustRewrite?: boolean;
};

/** The plants that are not inserted; the others are committed. */
type CommitResult = Result<NotInserted, StoreUnavailable>;

/** Pause between attempts to open a file again, in milliseconds. */
const reopenPauseMs = 1_000;

/**
 * The owner of a file, in a worker thread, so that fsync does not block the event loop. When a
 * failed commit or a crash has ended the thread, the next commit starts one that opens it again.
 */
export class Owner {
  readonly #onHeldWal: (wal: HeldWal) => void;
  readonly #path: string;
  /** The file, since it was first opened. */
  #file: OpenedFile | undefined;
  /** Holds the inode of the file between two threads, too: another file could get it. */
  #inode: number | undefined;
  /** The thread; `undefined` after its end, when another one can open the file. */
  #worker: Worker | undefined;
  #exited: Promise<void> = Promise.resolve();
  #crash: unknown;
  #mustRewrite = false;
  #onReply: (reply: FromWorker | undefined) => void = () => {};
  #lastFailure: { readonly at: number; readonly error: OpenSqliteError } | undefined;
  #lastTask: Promise<unknown> = Promise.resolve();

  static async open(
    path: string,
    onHeldWal: (wal: HeldWal) => void,
  ): Promise<Result<Owner, OpenSqliteError>> {
    const owner = new Owner(path, onHeldWal);
    const error = await owner.#start();
    return error === undefined ? ok(owner) : err(error);
  }

  private constructor(path: string, onHeldWal: (wal: HeldWal) => void) {
    this.#path = path;
    this.#onHeldWal = onHeldWal;
  }

  /** The path of the file, with symbolic links resolved. */
  get name(): string {
    return this.#file?.name ?? this.#path;
  }

  async commit(plants: readonly NewPlant[]): Promise<CommitResult> {
    return this.#inTurn(async () => {
      const error = this.#worker === undefined ? await this.#reopen() : undefined;
      if (error !== undefined)
        return unavailable(`the database cannot be opened: ${error.message}`, error.cause);
      const reply = await this.#request({ kind: 'commit', batch: toBatch(plants) });
      if (reply?.kind === 'committed') {
        const { heldWal, notInserted } = reply;
        // An exception in the callback must not fail the commit.
        if (heldWal !== undefined) queueMicrotask(() => this.#onHeldWal(heldWal));
        return ok(notInserted);
      }
      if (reply?.kind !== 'refused' && reply?.kind !== 'failed')
        return unavailable('the commit worker crashed', this.#crash);
      // The thread must release the file before the next one opens it.
      if (reply.kind === 'failed') await this.#exited;
      this.#mustRewrite = reply.mustRewrite === true;
      return unavailable(reply.reason, reply.cause);
    });
  }

  /** Closes the file. Returns what to do if it was removed, renamed or replaced meanwhile. */
  async close(): Promise<string | undefined> {
    return this.#inTurn(async () => {
      if (this.#worker !== undefined) await this.#request({ kind: 'close' });
      const inode = this.#inode;
      if (inode !== undefined) attempt(() => closeSync(inode));
      // A path that cannot be examined leads to no other file.
      const fault = attempt(() => this.#file && findReplaced(this.#file));
      return fault && openError(this.#path, fault).message;
    });
  }

  /** Starts a thread after the last one has ended, unless that has failed a moment ago. */
  async #reopen(): Promise<OpenSqliteError | undefined> {
    const last = this.#lastFailure;
    if (last !== undefined && performance.now() - last.at < reopenPauseMs) return last.error;
    const error = await this.#start();
    this.#lastFailure = error && { at: performance.now(), error };
    return error;
  }

  /** Starts a thread that opens the file, or creates it at first. */
  async #start(): Promise<OpenSqliteError | undefined> {
    const path = this.#path;
    const before = this.#file;
    try {
      this.#worker = this.#startWorker(
        before === undefined
          ? { kind: 'create', path }
          : { kind: 'own', path, before, mustRewrite: this.#mustRewrite },
      );
    } catch (cause) {
      return openError(path, { kind: 'unexpected', cause });
    }
    const reply = await this.#nextReply();
    if (reply?.kind === 'opened') {
      this.#file = reply.file;
      this.#inode ??= holdInode(reply.file.name);
      this.#mustRewrite = false;
      // Only a create in flight keeps the process alive, not an open repository.
      this.#worker?.unref();
      return undefined;
    }
    await this.#exited;
    if (reply?.kind === 'cannot-open') return reply.error;
    return openError(path, { kind: 'unexpected', cause: this.#crash });
  }

  #startWorker(workerData: Opening): Worker {
    // What NODE_OPTIONS preloads could keep the thread alive. Node 22 warns of node:sqlite. If the
    // thread is ended, its descriptors stay open: closing one would release locks on its file.
    const { NODE_OPTIONS: _, ...env } = process.env;
    // The thread imports what its process would.
    const conditions = process.execArgv.filter((option) => option.startsWith('--conditions='));
    const execArgv = ['--disable-warning=ExperimentalWarning', ...conditions];
    const options = { name: 'plantstore', workerData, env, execArgv, trackUnmanagedFds: false };
    // Bundlers recognize this form only. The build replaces .ts with .mjs.
    const worker = new Worker(new URL('./commit-worker.ts', import.meta.url), options);
    worker.on('message', (reply: FromWorker) => this.#onReply(reply));
    this.#crash = new Error('its worker thread exited');
    // Without a listener, an exception in the worker would end this process.
    worker.on('error', (thrown) => (this.#crash = thrown));
    this.#exited = new Promise((resolve) => {
      worker.once('exit', () => {
        this.#worker = undefined;
        this.#onReply(undefined);
        resolve();
      });
    });
    return worker;
  }

  /** Returns the reply to a message, or `undefined` when the thread ends without one. */
  async #request(message: ToWorker): Promise<FromWorker | undefined> {
    this.#worker?.ref();
    const replied = this.#nextReply();
    this.#worker?.postMessage(message);
    const reply = await replied;
    if (reply?.kind !== 'failed') this.#worker?.unref();
    return reply;
  }

  async #nextReply(): Promise<FromWorker | undefined> {
    return new Promise((resolve) => {
      this.#onReply = resolve;
    });
  }

  /** Runs one task at a time, in call order. */
  async #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#lastTask.then(task);
    this.#lastTask = result.catch(() => {});
    return result;
  }
}

function unavailable(reason: string, cause: unknown): CommitResult {
  return err({ kind: 'store-unavailable', reason, ...(cause !== undefined && { cause }) });
}
