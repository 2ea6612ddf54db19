import type { IdTaken, NewPlant, StoreUnavailable } from '@plantstore/core';
import { err, type Result } from 'neverthrow';

/** The result of a create. */
export type Created = Result<void, IdTaken | StoreUnavailable>;

/**
 * Commits a batch and returns the result of each plant, in order. A plant that is committed apart
 * from its batch has a promise as its result. Never rejects. `giveUpAt`: a time of
 * `performance.now()` after which nothing is repeated.
 */
export type Commit = (
  plants: readonly NewPlant[],
  giveUpAt: number,
) => Promise<readonly (Created | Promise<Created>)[]>;

/** Limits of the queue. Text is counted in UTF-16 code units; one plant may always be longer. */
export type Limits = {
  /** Number of creates that may wait for a result; one more is `store-unavailable` at once. */
  readonly maxWaiting: number;
  /** Amount of text that they may have. */
  readonly maxWaitingText: number;
  /** How long a create may take, in milliseconds. */
  readonly deadlineMs: number;
  readonly maxBatchPlants: number;
  /** Amount of text in a batch. */
  readonly maxBatchText: number;
};

type Resolve = (created: Created) => void;
type Waiting = { readonly plant: NewPlant; readonly giveUpAt: number; readonly resolve: Resolve };

/** Creates that share commits. */
export type GroupCommit = {
  /** Adds a plant to the next batch and calls `resolve` with its result. */
  readonly add: (plant: NewPlant, resolve: Resolve) => void;
  /** Waits until every create so far has its result. */
  readonly drained: () => Promise<void>;
};

const textOf = ({ name, tag }: NewPlant): number => name.length + (tag?.length ?? 0);

/**
 * Collects creates while batches are being committed and commits them together in the next one.
 *
 * @param lanes - each commits one batch at a time
 * @param trouble - what is wrong with the database at the moment, if anything
 */
export const createGroupCommit = (
  lanes: readonly Commit[],
  { maxWaiting, maxWaitingText, deadlineMs, maxBatchPlants, maxBatchText }: Limits,
  trouble: () => string | undefined,
): GroupCommit => {
  const free = lanes.toReversed();
  // Creates in flight included, in the order of their deadlines.
  const unsettled = new Set<Waiting>();
  let unsettledText = 0;
  let waiting: Waiting[] = [];
  let isScheduled = false;
  let onDrained: (() => void)[] = [];
  // For the first deadline. An idle repository does not keep a process alive; an unsettled create does.
  let timer: NodeJS.Timeout | undefined;

  const unavailable = (reason: string): Created => err({ kind: 'store-unavailable', reason });

  const settle = (one: Waiting, created: Created): void => {
    if (!unsettled.delete(one)) return;
    unsettledText -= textOf(one.plant);
    one.resolve(created);
    if (unsettled.size > 0) return;
    timer?.unref();
    for (const resolve of onDrained) resolve();
    onDrained = [];
  };

  const settleLate = (): void => {
    const now = performance.now();
    timer = undefined;
    for (const one of unsettled) {
      if (one.giveUpAt > now) {
        timer = setTimeout(settleLate, one.giveUpAt - now);
        break;
      }
      const why = trouble() ?? 'it is too slow';
      settle(
        one,
        unavailable(`the database did not keep the plant within ${deadlineMs} ms: ${why}`),
      );
    }
    waiting = waiting.filter((one) => unsettled.has(one));
  };

  const takeBatch = (): Waiting[] => {
    let text = 0;
    const end = waiting.findIndex((one, index) => {
      text += textOf(one.plant);
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
        const result = created[index] ?? unavailable('the batch came to nothing');
        // Not awaited: a plant apart from its batch holds up no other.
        if (result instanceof Promise) void result.then((later) => settle(one, later));
        else settle(one, result);
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

  const refusal = (plant: NewPlant): string | undefined => {
    if (unsettled.size >= maxWaiting) {
      return `${maxWaiting} creates are waiting for the database already`;
    }
    return unsettled.size > 0 && unsettledText + textOf(plant) > maxWaitingText
      ? `${unsettledText} characters are waiting for the database already`
      : undefined;
  };

  return {
    add(plant, resolve) {
      const reason = refusal(plant);
      if (reason !== undefined) {
        resolve(unavailable(reason));
        return;
      }
      const one: Waiting = { plant, resolve, giveUpAt: performance.now() + deadlineMs };
      timer ??= setTimeout(settleLate, deadlineMs);
      if (unsettled.size === 0) timer.ref();
      unsettled.add(one);
      unsettledText += textOf(plant);
      waiting.push(one);
      schedule();
    },
    drained: async () =>
      unsettled.size === 0
        ? undefined
        : new Promise((resolve) => {
            onDrained.push(resolve);
          }),
  };
};
