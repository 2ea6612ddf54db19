/**
 * `@plantstore/core/group-commit`: creates that share commits, for authors of a store. Uses timers
 * and `setImmediate` of Node.js, Deno and Bun.
 *
 * @module
 */

import { err, type Result, ResultAsync } from 'neverthrow';
import { assertNewPlant } from './assert-new-plant.ts';
import { copyPlant, textLength } from './plant-members.ts';
import type { NewPlant } from './plant.ts';
import type {
  IdTaken,
  PlantRefused,
  PlantRepository,
  StoreUnavailable,
} from './plant-repository.ts';

export type { IdTaken, PlantRefused, Result, ResultAsync, StoreUnavailable };

/**
 * Creates a group commit: it collects creates while batches are being committed, and commits them
 * together in the next batch. Many plants share the cost of a commit, such as an fsync or a round
 * trip.
 *
 * @param options - the lanes, and limits with defaults
 * @example
 * ```ts
 * import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
 * import { type Commit, createGroupCommit } from '@plantstore/core/group-commit';
 *
 * const memory = createMemoryRepository();
 * const commit: Commit = async (plants) =>
 *   Promise.all(plants.map(async (plant) => memory.create(plant)));
 * const { create, close } = createGroupCommit({ lanes: [commit], deadlineMs: 10_000 });
 * const repository: PlantRepository = { create };
 * await repository.create({ id: 7n, name: 'Monstera' });
 * await close();
 * ```
 */
export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const queue = new CommitQueue(options);
  return {
    create: (plant) => queue.create(plant),
    waiting: () => queue.unsettled,
    close: async () => queue.close(),
  };
}

/**
 * Creates on their way through the lanes. Each is in one of these states:
 *
 * - waiting: from `create` until a lane that is free takes it into a batch
 * - in flight: until its batch is committed, or until its own result, if that is a promise
 * - settled: by its result, or at its deadline by `store-unavailable`. A commit ends as if it were
 *   still in flight, and its result is ignored
 */
class CommitQueue {
  readonly #options: GroupCommitOptions;
  readonly #limits: Limits;
  readonly #freeLanes: Commit[];
  #waiting: Create[] = [];
  readonly #inFlight = new Set<readonly Create[]>();
  /** Number of creates that are waiting or in flight, and their text. */
  unsettled = 0;
  #unsettledText = 0;
  /** Whether a turn of the event loop will start free lanes. */
  #isScheduled = false;
  #isClosed = false;
  #onDrained: (() => void)[] = [];
  /** For the next deadline. It keeps the process alive as long as a create is unsettled. */
  #timer: Timer | undefined;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#limits = limitsOf(options);
    this.#freeLanes = options.lanes.toReversed();
  }

  create(plant: NewPlant): ReturnType<PlantRepository['create']> {
    // An executor that throws makes the promise reject.
    const created = new Promise<Created>((resolve) => {
      // Its caller may change the plant.
      const copy = copyPlant(plant);
      assertNewPlant(copy);
      this.#add(copy, resolve);
    });
    return new ResultAsync(created);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.unsettled > 0) await new Promise<void>((resolve) => this.#onDrained.push(resolve));
  }

  #add(plant: NewPlant, resolve: (created: Created) => void): void {
    const text = textLength(plant);
    const reason = this.#reasonAgainst(text);
    if (reason !== undefined) {
      resolve(unavailable(reason));
      return;
    }
    this.unsettled += 1;
    this.#unsettledText += text;
    this.#waiting.push({ plant, text, deadline: this.#startDeadline(), resolve });
    this.#schedule();
  }

  /** Returns why no more text is accepted, or `undefined`. */
  #reasonAgainst(text: number): string | undefined {
    const { maxWaiting, maxWaitingText } = this.#limits;
    if (this.#isClosed) return 'the database is closed';
    if (this.unsettled >= maxWaiting)
      return `${maxWaiting} creates are waiting for the database already`;
    // A single plant may have more.
    if (this.unsettled === 0 || this.#unsettledText + text <= maxWaitingText) return undefined;
    return `${this.#unsettledText} characters are waiting for the database already`;
  }

  #startDeadline(): number {
    const { deadlineMs } = this.#limits;
    if (deadlineMs < Infinity) {
      this.#timer ??= setTimeout(() => this.#settleOverdue(), deadlineMs);
      this.#timer.ref();
    }
    return performance.now() + deadlineMs;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#freeLanes.length === 0) return;
    this.#isScheduled = true;
    // Deferred, so that the first batch contains all creates of this turn of the event loop.
    setImmediate(() => {
      this.#isScheduled = false;
      while (this.#waiting.length > 0) {
        const lane = this.#freeLanes.pop();
        if (lane === undefined) return;
        void this.#runLane(lane);
      }
    });
  }

  async #runLane(lane: Commit): Promise<void> {
    for (let batch = this.#takeBatch(); batch.length > 0; batch = this.#takeBatch()) {
      await this.#commit(lane, batch);
    }
    this.#freeLanes.push(lane);
  }

  /** Removes the first creates that are waiting; at least one, if there are any. */
  #takeBatch(): Create[] {
    const { maxBatchPlants, maxBatchText } = this.#limits;
    let text = 0;
    const end = this.#waiting.findIndex((one, index) => {
      text += one.text;
      return index > 0 && (index >= maxBatchPlants || text > maxBatchText);
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  async #commit(lane: Commit, batch: readonly Create[]): Promise<void> {
    const startedAt = performance.now();
    let kept = 0;
    this.#inFlight.add(batch);
    try {
      const plants = batch.map(({ plant }) => plant);
      const results = await lane(plants, batch.at(-1)?.deadline ?? Infinity);
      for (const [index, one] of batch.entries()) {
        const result = results[index] ?? incomplete();
        // Not awaited, because a pending result must not delay other plants.
        if ('then' in result) void this.#settleLater(one, result);
        else {
          if (result.isOk() || result.error.kind === 'id-taken') kept += 1;
          this.#settle(one, result);
        }
      }
    } catch (thrown) {
      for (const one of batch) this.#settle(one, incomplete(thrown));
    }
    this.#inFlight.delete(batch);
    const { onCommit } = this.#options;
    if (onCommit === undefined) return;
    const durationMs = performance.now() - startedAt;
    queueMicrotask(() => onCommit({ plants: kept, durationMs }));
  }

  async #settleLater(one: Create, result: Promise<Created>): Promise<void> {
    const single = [one];
    this.#inFlight.add(single);
    this.#settle(one, (await Promise.resolve(result).catch(incomplete)) ?? incomplete());
    this.#inFlight.delete(single);
  }

  #settleOverdue(): void {
    const now = performance.now();
    const why = this.#options.lastFailure?.() ?? 'it is too slow';
    const { deadlineMs } = this.#limits;
    const late = `the database did not keep the plant within ${deadlineMs} ms: ${why}`;
    let next = Infinity;
    for (const one of [...this.#inFlight, this.#waiting].flat()) {
      if (one.deadline <= now) this.#settle(one, unavailable(late));
      else next = Math.min(next, one.deadline);
    }
    this.#waiting = this.#waiting.filter(({ resolve }) => resolve !== undefined);
    this.#timer = next < Infinity ? setTimeout(() => this.#settleOverdue(), next - now) : undefined;
  }

  #settle(one: Create, created: Created): void {
    const { resolve } = one;
    if (resolve === undefined) return;
    one.resolve = undefined;
    this.unsettled -= 1;
    this.#unsettledText -= one.text;
    resolve(created);
    if (this.unsettled > 0) return;
    this.#timer?.unref();
    for (const drained of this.#onDrained) drained();
    this.#onDrained = [];
  }
}

type Limits = ReturnType<typeof limitsOf>;

function limitsOf({
  deadlineMs = Infinity,
  maxWaiting = 10_000,
  maxWaitingText = 2 ** 28,
  maxBatchPlants = Infinity,
  maxBatchText = 2 ** 24,
}: GroupCommitOptions) {
  return { deadlineMs, maxWaiting, maxWaitingText, maxBatchPlants, maxBatchText };
}

type Create = {
  readonly plant: NewPlant;
  /** Length of its text. */
  readonly text: number;
  readonly deadline: number;
  /** `undefined` once settled, so that what waited for the result can be collected as garbage. */
  resolve: ((created: Created) => void) | undefined;
};

function unavailable(reason: string, cause?: unknown): Created {
  return err({ kind: 'store-unavailable', reason, ...(cause !== undefined && { cause }) });
}

/**
 * Returns the result of a plant for which a commit returned none: the create would never settle.
 */
function incomplete(cause?: unknown): Created {
  return unavailable('the commit did not complete', cause);
}

/** The result of a create. */
export type Created = Result<void | 'unchanged', IdTaken | PlantRefused | StoreUnavailable>;

/**
 * Commits a batch and returns the result of each plant, in order. The result of a plant may be a
 * promise: the lane does not wait for it before its next batch. If the commit rejects or has no
 * result for a plant, the create of the plant is `store-unavailable`. A commit that waits for a
 * create of the same group can wait forever.
 *
 * @param plants - at least one; several may have the same id
 * @param deadline - the deadline of the last plant, in milliseconds as `performance.now()` returns
 * them; `Infinity` without `deadlineMs`
 */
export type Commit = (
  plants: readonly NewPlant[],
  deadline: number,
) => Promise<readonly (Created | Promise<Created>)[]>;

/** A batch whose commit has settled. */
export type CommittedBatch = {
  /**
   * Number of its plants that were stored or compared with stored ones; 0 if the commit failed. A
   * plant whose result is a promise is not counted.
   */
  readonly plants: number;
  /** Time that the commit took, in milliseconds. */
  readonly durationMs: number;
};

/**
 * Options of {@link createGroupCommit}. Text is counted in UTF-16 code units. A single plant may
 * exceed a limit of text.
 */
export type GroupCommitOptions = {
  /** The functions that commit batches, each one batch at a time; at least one. */
  readonly lanes: readonly Commit[];
  /** Time limit of a create, in milliseconds, at most 2,147,483,647. Default: no limit. */
  readonly deadlineMs?: number;
  /**
   * Maximum number of unsettled creates; one more is `store-unavailable` at once. Default: 10,000.
   */
  readonly maxWaiting?: number;
  /** Maximum amount of text of unsettled creates. Default: 2<sup>28</sup>. */
  readonly maxWaitingText?: number;
  /** Maximum number of plants in a batch, which has at least one. Default: no limit. */
  readonly maxBatchPlants?: number;
  /** Maximum amount of text in a batch. Default: 2<sup>24</sup>. */
  readonly maxBatchText?: number;
  /**
   * Returns the last failure of the database, if any; part of the reason when a deadline passes.
   * Must not throw, because no later deadline would then be kept. Default: none.
   */
  readonly lastFailure?: () => string | undefined;
  /**
   * Called after each commit, in a microtask, for metrics. What it throws is an uncaught exception
   * and changes no result. Default: none.
   */
  readonly onCommit?: (batch: CommittedBatch) => void;
};

/** What {@link createGroupCommit} returns. */
export type GroupCommit = {
  /**
   * Adds a plant to the next batch. Rejects if the plant was not validated, as every repository
   * does.
   */
  readonly create: PlantRepository['create'];
  /** Returns the number of creates that have not settled, including those being committed. */
  readonly waiting: () => number;
  /** Waits until every create has settled. Later creates are `store-unavailable`. */
  readonly close: () => Promise<void>;
};

// Core is compiled without the types of any runtime.
type Timer = { ref(): void; unref(): void };
declare const performance: { now(): number };
declare const setTimeout: (task: () => void, milliseconds: number) => Timer;
declare const setImmediate: (task: () => void) => void;
declare const queueMicrotask: (task: () => void) => void;
