import type { IdTaken, NewPlant, StoreUnavailable } from '@plantstore/core';
import { err, ok, type Result } from 'neverthrow';

/** The result of a batch: committed, without the plants at the indexes in `taken`; or failed. */
export type CommitResult =
  | { readonly kind: 'committed'; readonly taken: ReadonlySet<number> }
  | { readonly kind: 'failed'; readonly reason: string; readonly cause?: unknown };

/** Commits plants in one transaction. */
export type Commit = (plants: readonly NewPlant[]) => Promise<CommitResult>;

/** The result of a create. */
export type Created = Result<void, IdTaken | StoreUnavailable>;

/** Limits of the queue. Text is counted in UTF-16 code units; one plant may always be longer. */
export type Limits = {
  /** Number of creates that may wait for a result; one more is `store-unavailable` at once. */
  readonly maxWaiting: number;
  /** Amount of text that they may have. */
  readonly maxWaitingText: number;
  /** Amount of text in a batch: it is copied to another thread, and settled in one turn. */
  readonly maxBatchText: number;
};

type Resolve = (created: Created) => void;
type Waiting = { readonly plant: NewPlant; readonly resolve: Resolve };

/** Creates that share commits. */
export type GroupCommit = {
  /** Adds a plant to the next batch and calls `resolve` with its result. */
  readonly add: (plant: NewPlant, resolve: Resolve) => void;
  /** Waits until every create so far has its result. */
  readonly drained: () => Promise<void>;
};

const textOf = ({ name, tag }: NewPlant): number => name.length + (tag?.length ?? 0);

const created: Created = ok();

/** The result where a bug rejected the commit: without one, this batch and all after it would wait forever. */
const broken = (cause: unknown): CommitResult => ({
  kind: 'failed',
  reason: 'the commit came to nothing',
  cause,
});

const resultOf = ({ plant }: Waiting, index: number, result: CommitResult): Created => {
  if (result.kind === 'failed') {
    const { reason, cause } = result;
    return err({ kind: 'store-unavailable', reason, ...(cause !== undefined && { cause }) });
  }
  return result.taken.has(index) ? err({ kind: 'id-taken', id: plant.id }) : created;
};

/**
 * Collects creates while a batch is being committed and commits them together in the next one: a
 * commit takes one sync of the disk for any number of plants. One batch is in flight at a time.
 */
export const createGroupCommit = (
  commit: Commit,
  { maxWaiting, maxWaitingText, maxBatchText }: Limits,
): GroupCommit => {
  const waiting: Waiting[] = [];
  // Creates in flight included.
  let unsettled = 0;
  let unsettledText = 0;
  let running: Promise<void> | undefined;

  const takeBatch = (): Waiting[] => {
    let text = 0;
    const end = waiting.findIndex(({ plant }, index) => {
      text += textOf(plant);
      return index > 0 && text > maxBatchText;
    });
    return waiting.splice(0, end === -1 ? waiting.length : end);
  };

  const refusal = (plant: NewPlant): string | undefined => {
    if (unsettled >= maxWaiting) return `${maxWaiting} creates are waiting for the disk already`;
    return unsettled > 0 && unsettledText + textOf(plant) > maxWaitingText
      ? `${unsettledText} characters are waiting for the disk already`
      : undefined;
  };

  const commitAll = async () => {
    // So that all creates of this turn of the event loop are in the first batch.
    await new Promise(setImmediate);
    while (waiting.length > 0) {
      const batch = takeBatch();
      const result = await commit(batch.map(({ plant }) => plant)).catch(broken);
      for (const [index, one] of batch.entries()) {
        unsettled -= 1;
        unsettledText -= textOf(one.plant);
        one.resolve(resultOf(one, index, result));
      }
    }
    running = undefined;
  };

  return {
    add(plant, resolve) {
      const reason = refusal(plant);
      if (reason !== undefined) {
        resolve(err({ kind: 'store-unavailable', reason }));
        return;
      }
      unsettled += 1;
      unsettledText += textOf(plant);
      waiting.push({ plant, resolve });
      running ??= commitAll();
    },
    drained: async () => running,
  };
};
