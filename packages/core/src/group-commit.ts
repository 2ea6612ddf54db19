/**
 * `@plantstore/core/group-commit`: creates that share commits, for authors of a store. Uses timers and
 * `setImmediate`, as Node.js, Deno and Bun have them. Without zod.
 *
 * @module
 */

import { err, type Result, ResultAsync } from 'neverthrow';
import { assertNewPlant } from './assert-new-plant.ts';
import type { NewPlant } from './plant.ts';
import type {
  IdTaken,
  PlantRefused,
  PlantRepository,
  StoreUnavailable,
} from './plant-repository.ts';

/** The result of a create. */
export type Created = Result<void, IdTaken | PlantRefused | StoreUnavailable>;

/**
 * Commits a batch and returns the result of each plant, in order. A plant that is committed apart from
 * its batch has a promise as its result: the lane takes its next batch meanwhile. Where the commit
 * rejects, or has no result for a plant, the plant is `store-unavailable`.
 *
 * @param plants - at least one; several may have the same id
 * @param giveUpAt - the deadline of the last plant, as a time of `performance.now()`; `Infinity` without
 * `deadlineMs`
 */
export type Commit = (
  plants: readonly NewPlant[],
  giveUpAt: number,
) => Promise<readonly (Created | Promise<Created>)[]>;

/** A batch whose commit has ended, with whatever results. */
export type CommittedBatch = {
  /** Number of plants in it. */
  readonly plants: number;
  /** Time that the commit took, in milliseconds. */
  readonly durationMs: number;
};

/** Who commits, and how much. Text is counted in UTF-16 code units; one plant may always be longer. */
export type GroupCommitOptions = {
  /** Each commits one batch at a time. */
  readonly lanes: readonly Commit[];
  /** How long a create may take, in milliseconds, at most 2,147,483,647. Default: no limit. */
  readonly deadlineMs?: number;
  /** Number of creates without a result; one more is `store-unavailable` at once. Default: 10,000. */
  readonly maxWaiting?: number;
  /** Amount of text that they may have. Default: 2<sup>28</sup>. */
  readonly maxWaitingText?: number;
  /** Number of plants in a batch. Default: no limit. */
  readonly maxBatchPlants?: number;
  /** Amount of text in a batch. Default: 2<sup>24</sup>. */
  readonly maxBatchText?: number;
  /** Returns what is wrong with the database now, if anything: the reason when a deadline passes. */
  readonly trouble?: () => string | undefined;
  /**
   * Called after each commit, in a microtask, for metrics. What it throws is an uncaught exception and changes no result.
   * Default: nothing is called.
   */
  readonly onCommit?: (batch: CommittedBatch) => void;
};

/** Creates that share commits. */
export type GroupCommit = {
  /**
   * Adds a plant to the next batch. It makes one promise and no timer. Rejects where the plant was not
   * validated, as every repository does.
   */
  readonly create: PlantRepository['create'];
  /** Returns the number of creates without a result, those in a commit included. */
  readonly waiting: () => number;
  /** Waits until every create has its result. Later creates are `store-unavailable`. */
  readonly close: () => Promise<void>;
};

type Waiting = {
  readonly plant: NewPlant;
  readonly giveUpAt: number;
  readonly resolve: (created: Created) => void;
  isSettled: boolean;
};

// Core is built without the types of any runtime.
type Timer = { ref(): void; unref(): void };
declare const performance: { now(): number };
declare const setTimeout: (task: () => void, milliseconds: number) => Timer;
declare const setImmediate: (task: () => void) => void;
declare const queueMicrotask: (task: () => void) => void;

const textOf = ({ name, tag }: NewPlant): number => name.length + (tag?.length ?? 0);

const unavailable = (reason: string, cause?: unknown): Created =>
  err({ kind: 'store-unavailable', reason, ...(cause !== undefined && { cause }) });

/** The result where a bug left a plant without one: it would wait forever. */
const broken = (cause?: unknown): Created => unavailable('the commit came to nothing', cause);

/**
 * Collects creates while batches are being committed, and commits them together in the next one: any
 * number of plants share the cost of a commit, such as a sync of the disk or a round trip.
 *
 * @param options - the lanes, and limits that have defaults
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
export const createGroupCommit = ({
  lanes,
  deadlineMs = Infinity,
  maxWaiting = 10_000,
  maxWaitingText = 2 ** 28,
  maxBatchPlants = Infinity,
  maxBatchText = 2 ** 24,
  trouble,
  onCommit,
}: GroupCommitOptions): GroupCommit => {
  const free = lanes.toReversed();
  let waiting: Waiting[] = [];
  const inFlight = new Set<readonly Waiting[]>();
  // Of both.
  let unsettled = 0;
  let unsettledText = 0;
  let isScheduled = false;
  let isClosed = false;
  let onDrained: (() => void)[] = [];
  // For the first deadline. An idle repository does not keep a process alive; an unsettled create does.
  let timer: Timer | undefined;

  const settle = (one: Waiting, created: Created): void => {
    if (one.isSettled) return;
    one.isSettled = true;
    unsettled -= 1;
    unsettledText -= textOf(one.plant);
    one.resolve(created);
    if (unsettled > 0) return;
    timer?.unref();
    for (const resolve of onDrained) resolve();
    onDrained = [];
  };

  const settleLate = (): void => {
    const now = performance.now();
    const why = trouble?.() ?? 'it is too slow';
    let next = Infinity;
    for (const one of [...inFlight, waiting].flat()) {
      if (one.giveUpAt <= now) {
        settle(
          one,
          unavailable(`the database did not keep the plant within ${deadlineMs} ms: ${why}`),
        );
      } else if (!one.isSettled) next = Math.min(next, one.giveUpAt);
    }
    waiting = waiting.filter(({ isSettled }) => !isSettled);
    timer = next < Infinity ? setTimeout(settleLate, next - now) : undefined;
  };

  const takeBatch = (): Waiting[] => {
    let text = 0;
    const end = waiting.findIndex(({ plant }, index) => {
      text += textOf(plant);
      return index >= maxBatchPlants || (index > 0 && text > maxBatchText);
    });
    return waiting.splice(0, end === -1 ? waiting.length : end);
  };

  const settleLater = async (one: Waiting, result: Promise<Created>): Promise<void> => {
    const alone = [one];
    inFlight.add(alone);
    settle(one, await result.catch(broken));
    inFlight.delete(alone);
  };

  const commitBatch = async (lane: Commit, batch: readonly Waiting[]): Promise<void> => {
    const plants = batch.map(({ plant }) => plant);
    const startedAt = performance.now();
    inFlight.add(batch);
    try {
      const created = await lane(plants, batch.at(-1)?.giveUpAt ?? Infinity);
      for (const [index, one] of batch.entries()) {
        const result = created[index] ?? broken();
        // Not awaited: a plant apart from its batch delays no other.
        if (result instanceof Promise) void settleLater(one, result);
        else settle(one, result);
      }
    } catch (thrown) {
      for (const one of batch) settle(one, broken(thrown));
    }
    inFlight.delete(batch);
    if (onCommit === undefined) return;
    const durationMs = performance.now() - startedAt;
    queueMicrotask(() => onCommit({ plants: plants.length, durationMs }));
  };

  const work = async (lane: Commit): Promise<void> => {
    for (let batch = takeBatch(); batch.length > 0; batch = takeBatch()) {
      await commitBatch(lane, batch);
    }
    free.push(lane);
  };

  const schedule = (): void => {
    if (isScheduled || free.length === 0) return;
    isScheduled = true;
    // So that all creates of this turn of the event loop are in the first batch.
    setImmediate(() => {
      isScheduled = false;
      while (waiting.length > 0) {
        const lane = free.pop();
        if (lane === undefined) return;
        void work(lane);
      }
    });
  };

  const refusal = (plant: NewPlant): string | undefined => {
    if (isClosed) return 'the database is closed';
    if (unsettled >= maxWaiting) {
      return `${maxWaiting} creates are waiting for the database already`;
    }
    return unsettled > 0 && unsettledText + textOf(plant) > maxWaitingText
      ? `${unsettledText} characters are waiting for the database already`
      : undefined;
  };

  const add = (plant: NewPlant, resolve: Waiting['resolve']): void => {
    const reason = refusal(plant);
    if (reason !== undefined) {
      resolve(unavailable(reason));
      return;
    }
    const giveUpAt = performance.now() + deadlineMs;
    if (deadlineMs < Infinity) {
      timer ??= setTimeout(settleLate, deadlineMs);
      if (unsettled === 0) timer.ref();
    }
    unsettled += 1;
    unsettledText += textOf(plant);
    waiting.push({ plant, giveUpAt, resolve, isSettled: false });
    schedule();
  };

  return {
    create: (plant) =>
      new ResultAsync(
        new Promise((resolve) => {
          // A promise rejects with what its executor throws.
          assertNewPlant(plant);
          add(plant, resolve);
        }),
      ),
    waiting: () => unsettled,
    close: async () => {
      isClosed = true;
      if (unsettled > 0) await new Promise<void>((resolve) => onDrained.push(resolve));
    },
  };
};
