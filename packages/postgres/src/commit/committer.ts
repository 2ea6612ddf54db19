import { setTimeout as sleep } from 'node:timers/promises';
import type { NewPlant } from '@plantstore/core';
import type { Created } from '@plantstore/core/group-commit';
import { describeThrown } from '../open/errors.ts';
import type { Session } from '../open/session.ts';
import type { createCommitBatch, Plants, Results } from './commit-batch.ts';
import { failureOf, isTransient, notKept } from './failures.ts';
import type { Sessions } from './sessions.ts';

/** Creates the function that commits a batch, and retries after failures until its deadline. */
export function createCommitter(sessions: Sessions, commitBatch: CommitBatch) {
  let failure: unknown;
  /** Plants that were locked are committed one batch at a time. */
  let turn: Promise<unknown> = Promise.resolve();

  return {
    commit,
    /** Returns the most recent failure, or `undefined` after a success. */
    lastFailure: () => (failure === undefined ? undefined : describeThrown(failure)),
  };

  /** The result of a plant whose id another session has locked is a promise: others do not wait. */
  async function commit(plants: Plants, deadline: number) {
    const results = await commitOnce(plants, deadline, lockTimeoutsMs.batch);
    const locked: Locked = new Map();
    for (const plant of plants) if (!results.has(plant)) locked.set(plant, Promise.withResolvers());
    const all = plants.map((plant) => results.get(plant) ?? locked.get(plant)?.promise);
    void waitForLocks(locked, deadline);
    return all.map((created) => created ?? notKept(lockedReason));
  }

  /** Commits plants whose ids were locked, again and again until their deadline. */
  async function waitForLocks(locked: Locked, deadline: number): Promise<void> {
    // Ends before the deadline, so that the result names the lock.
    const isOver = () => performance.now() + 2 * lockTimeoutsMs.locked >= deadline;
    const none: Results = new Map();
    while (locked.size > 0 && !isOver()) {
      // In a random order: a batch whose first plants are locked gives up before the others.
      const plants = [...locked.keys()].toSorted(() => Math.random() - 0.5);
      const committed = turn.then(async () =>
        isOver() ? none : commitOnce(plants, deadline, lockTimeoutsMs.locked),
      );
      turn = committed;
      for (const [plant, created] of await committed) {
        locked.get(plant)?.resolve(created);
        locked.delete(plant);
      }
    }
    for (const { resolve } of locked.values()) resolve(notKept(lockedReason));
  }

  async function commitOnce(plants: Plants, deadline: number, lockMs: number): Promise<Results> {
    try {
      return await retry(deadline, async (session) => commitBatch(session, plants, lockMs));
    } catch (thrown) {
      return new Map(plants.map((plant) => [plant, notKept(thrown)]));
    }
  }

  /**
   * Retries work until it succeeds. Throws at the deadline, or when a retry cannot succeed. A
   * statement may end after the deadline: a shorter timeout would close a connection that works.
   */
  async function retry<T>(deadline: number, work: (session: Session) => Promise<T>): Promise<T> {
    for (let count = 0; ; count += 1) {
      try {
        const done = await sessions.use(work);
        failure = undefined;
        return done;
      } catch (thrown) {
        failure = thrown;
        const pauseMs = backoffMs(count);
        const isLast = performance.now() + pauseMs >= deadline;
        if (!isTransient(failureOf(thrown)) || isLast) throw thrown;
        await sleep(pauseMs);
      }
    }
  }
}

type CommitBatch = ReturnType<typeof createCommitBatch>;
type Locked = Map<NewPlant, PromiseWithResolvers<Created>>;

/** Exponential backoff with jitter, so that processes do not retry at the same time. */
function backoffMs(attempt: number): number {
  return Math.min(1_000, 25 * 2 ** attempt) * (0.5 + Math.random() / 2);
}

/** Timeouts of the wait for a locked id, in milliseconds. */
const lockTimeoutsMs = {
  /** Of a batch. Other processes that create the same plants lock ids for the time of a commit. */
  batch: 100,
  /** Of plants whose ids were locked. */
  locked: 250,
};
const lockedReason = new Error(
  'another session has locked its id: a transaction that inserted or deleted it is still open',
);
