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
  /** Number of its plants that were stored or compared with stored ones; 0 if the commit failed. */
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
   * Adds a plant to the next batch. Creates one promise and no timer. Rejects if the plant was not
   * validated, as every repository does.
   */
  readonly create: PlantRepository['create'];
  /** Returns the number of creates that have not settled, including those being committed. */
  readonly waiting: () => number;
  /** Waits until every create has settled. Later creates are `store-unavailable`. */
  readonly close: () => Promise<void>;
};

type Waiting = {
  readonly plant: NewPlant;
  /** Length of its text. */
  readonly text: number;
  readonly deadline: number;
  /** `undefined` once settled, so that what waited for the result can be collected as garbage. */
  resolve: ((created: Created) => void) | undefined;
};

// Core is compiled without the types of any runtime.
type Timer = { ref(): void; unref(): void };
declare const performance: { now(): number };
declare const setTimeout: (task: () => void, milliseconds: number) => Timer;
declare const setImmediate: (task: () => void) => void;
declare const queueMicrotask: (task: () => void) => void;

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
export function createGroupCommit({
  lanes,
  deadlineMs = Infinity,
  maxWaiting = 10_000,
  maxWaitingText = 2 ** 28,
  maxBatchPlants = Infinity,
  maxBatchText = 2 ** 24,
  lastFailure,
  onCommit,
}: GroupCommitOptions): GroupCommit {
  const free = lanes.toReversed();
  let waiting: Waiting[] = [];
  const inFlight = new Set<readonly Waiting[]>();
  // Of the creates in both.
  let unsettled = 0;
  let unsettledText = 0;
  let isScheduled = false;
  let isClosed = false;
  let onDrained: (() => void)[] = [];
  // For the next deadline. An unsettled create keeps the process alive; an idle repository does
  // not.
  let timer: Timer | undefined;

  const settle = (one: Waiting, created: Created): void => {
    const { resolve } = one;
    if (resolve === undefined) return;
    one.resolve = undefined;
    unsettled -= 1;
    unsettledText -= one.text;
    resolve(created);
    if (unsettled > 0) return;
    timer?.unref();
    for (const drained of onDrained) drained();
    onDrained = [];
  };

  const settleOverdue = (): void => {
    const now = performance.now();
    const why = lastFailure?.() ?? 'it is too slow';
    let next = Infinity;
    for (const one of [...inFlight, waiting].flat()) {
      if (one.deadline <= now) {
        settle(
          one,
          unavailable(`the database did not keep the plant within ${deadlineMs} ms: ${why}`),
        );
      } else next = Math.min(next, one.deadline);
    }
    waiting = waiting.filter(({ resolve }) => resolve !== undefined);
    timer = next < Infinity ? setTimeout(settleOverdue, next - now) : undefined;
  };

  const takeBatch = (): Waiting[] => {
    let text = 0;
    const end = waiting.findIndex((one, index) => {
      text += one.text;
      return index > 0 && (index >= maxBatchPlants || text > maxBatchText);
    });
    return waiting.splice(0, end === -1 ? waiting.length : end);
  };

  const settleSeparately = async (one: Waiting, result: Promise<Created>): Promise<void> => {
    const single = [one];
    inFlight.add(single);
    settle(one, (await Promise.resolve(result).catch(incomplete)) ?? incomplete());
    inFlight.delete(single);
  };

  const commitBatch = async (lane: Commit, batch: readonly Waiting[]): Promise<void> => {
    const plants = batch.map(({ plant }) => plant);
    const startedAt = performance.now();
    let kept = 0;
    inFlight.add(batch);
    try {
      const created = await lane(plants, batch.at(-1)?.deadline ?? Infinity);
      for (const [index, one] of batch.entries()) {
        const result = created[index] ?? incomplete();
        // Not awaited, because a pending result must not delay other plants.
        if ('then' in result) void settleSeparately(one, result);
        else {
          settle(one, result);
          if (result.isOk() || result.error.kind === 'id-taken') kept += 1;
        }
      }
    } catch (thrown) {
      for (const one of batch) settle(one, incomplete(thrown));
    }
    inFlight.delete(batch);
    if (onCommit === undefined) return;
    const durationMs = performance.now() - startedAt;
    queueMicrotask(() => onCommit({ plants: kept, durationMs }));
  };

  const runLane = async (lane: Commit): Promise<void> => {
    for (let batch = takeBatch(); batch.length > 0; batch = takeBatch()) {
      await commitBatch(lane, batch);
    }
    free.push(lane);
  };

  const schedule = (): void => {
    if (isScheduled || free.length === 0) return;
    isScheduled = true;
    // Deferred, so that the first batch contains all creates of this turn of the event loop.
    setImmediate(() => {
      isScheduled = false;
      while (waiting.length > 0) {
        const lane = free.pop();
        if (lane === undefined) return;
        void runLane(lane);
      }
    });
  };

  const limitExceeded = (text: number): string | undefined => {
    if (isClosed) return 'the database is closed';
    if (unsettled >= maxWaiting) {
      return `${maxWaiting} creates are waiting for the database already`;
    }
    return unsettled > 0 && unsettledText + text > maxWaitingText
      ? `${unsettledText} characters are waiting for the database already`
      : undefined;
  };

  const add = (plant: NewPlant, resolve: (created: Created) => void): void => {
    const text = textLength(plant);
    const reason = limitExceeded(text);
    if (reason !== undefined) {
      resolve(unavailable(reason));
      return;
    }
    const deadline = performance.now() + deadlineMs;
    if (deadlineMs < Infinity) {
      timer ??= setTimeout(settleOverdue, deadlineMs);
      timer.ref();
    }
    unsettled += 1;
    unsettledText += text;
    waiting.push({ plant, text, deadline, resolve });
    schedule();
  };

  return {
    create: (plant) =>
      new ResultAsync(
        new Promise((resolve) => {
          // Copied, because its caller may change it. An executor that throws makes the promise
          // reject.
          const copy = copyPlant(plant);
          assertNewPlant(copy);
          add(copy, resolve);
        }),
      ),
    waiting: () => unsettled,
    close: async () => {
      isClosed = true;
      if (unsettled > 0) await new Promise<void>((resolve) => onDrained.push(resolve));
    },
  };
}

function unavailable(reason: string, cause?: unknown): Created {
  return err({ kind: 'store-unavailable', reason, ...(cause !== undefined && { cause }) });
}

/**
 * Returns the result of a plant for which a commit returned none: the create would never settle.
 */
function incomplete(cause?: unknown): Created {
  return unavailable('the commit did not complete', cause);
}
