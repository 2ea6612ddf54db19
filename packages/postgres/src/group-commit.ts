import type { IdTaken, NewPlant, StoreUnavailable } from '@plantstore/core';
import { err, type Result } from 'neverthrow';

/** What a create comes to. */
export type Created = Result<void, IdTaken | StoreUnavailable>;

/**
 * Commits a batch and gives what became of each plant, in order; never rejects, and gives up at a
 * time of `performance.now()`.
 */
export type Commit = (plants: readonly NewPlant[], giveUpAt: number) => Promise<readonly Created[]>;

/** How many creates share what. */
export type Limits = {
  /** How many creates may wait for a result; one more is `store-unavailable` at once. */
  readonly maxWaiting: number;
  /** How long a create may take, in milliseconds. */
  readonly deadlineMs: number;
  readonly maxBatchPlants: number;
  /** How much text is in a batch, in UTF-16 code units; one plant always is. */
  readonly maxBatchText: number;
};

type Waiting = {
  readonly plant: NewPlant;
  readonly giveUpAt: number;
  readonly resolve: (created: Created) => void;
  timer?: NodeJS.Timeout;
};

/** Creates that share commits. */
export type GroupCommit = {
  readonly create: (plant: NewPlant) => Promise<Created>;
  /** Waits until every create so far has its result. */
  readonly drained: () => Promise<void>;
};

const textOf = ({ plant }: Waiting): number => plant.name.length + (plant.tag?.length ?? 0);

/**
 * Collects creates while batches are being committed and commits them together in the next one.
 *
 * @param lanes - each commits one batch at a time
 * @param trouble - what is wrong with the database at the moment, if anything
 */
export const createGroupCommit = (
  lanes: readonly Commit[],
  { maxWaiting, deadlineMs, maxBatchPlants, maxBatchText }: Limits,
  trouble: () => string | undefined,
): GroupCommit => {
  const free = lanes.toReversed();
  const unsettled = new Set<Waiting>();
  let waiting: Waiting[] = [];
  let isScheduled = false;
  let onDrained: (() => void)[] = [];

  const unavailable = (reason: string): Created => err({ kind: 'store-unavailable', reason });

  const settle = (one: Waiting, created: Created): void => {
    if (!unsettled.delete(one)) return;
    clearTimeout(one.timer);
    one.resolve(created);
    if (unsettled.size > 0) return;
    for (const resolve of onDrained) resolve();
    onDrained = [];
  };

  const takeBatch = (): Waiting[] => {
    // Whose time is up has been told so.
    waiting = waiting.filter((one) => unsettled.has(one));
    let text = 0;
    const end = waiting.findIndex((one, index) => {
      text += textOf(one);
      return index >= maxBatchPlants || (index > 0 && text > maxBatchText);
    });
    return waiting.splice(0, end === -1 ? waiting.length : end);
  };

  const work = async (lane: Commit): Promise<void> => {
    for (let batch = takeBatch(); batch.length > 0; batch = takeBatch()) {
      const created = await lane(
        batch.map(({ plant }) => plant),
        batch.at(-1)?.giveUpAt ?? 0,
      );
      for (const [index, one] of batch.entries()) {
        settle(one, created[index] ?? unavailable('the batch came to nothing'));
      }
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

  return {
    create: async (plant) => {
      if (unsettled.size >= maxWaiting) {
        return unavailable(`${maxWaiting} creates are waiting for the database already`);
      }
      return new Promise((resolve) => {
        const one: Waiting = { plant, resolve, giveUpAt: performance.now() + deadlineMs };
        one.timer = setTimeout(() => {
          const why = trouble() ?? 'it is too slow';
          settle(
            one,
            unavailable(`the database did not keep the plant within ${deadlineMs} ms: ${why}`),
          );
        }, deadlineMs);
        unsettled.add(one);
        waiting.push(one);
        schedule();
      });
    },
    drained: async () =>
      unsettled.size === 0
        ? undefined
        : new Promise((resolve) => {
            onDrained.push(resolve);
          }),
  };
};
