import { setTimeout as sleep } from 'node:timers/promises';
import type { NewPlant } from '@plantstore/core';
import type { Created } from '@plantstore/core/group-commit';
import { describeThrown } from '../open/errors.ts';
import type { Session } from '../open/session.ts';
import { type CommitBatch, lockTimeoutMs, type Plants, type Results } from './commit-batch.ts';
import { failureOf, isTransient, notKept } from './failures.ts';
import type { Sessions } from './sessions.ts';

/**
 * Commits batches, and retries after failures until their deadline. A plant is in a batch, then has
 * a result, or is locked: its id is, by another session. It then waits apart, so that other plants
 * do not, and has a result when the lock is released, or at its deadline.
 */
export class Committer {
  readonly #sessions: Sessions;
  readonly #commitBatch: CommitBatch;
  /** Batches of locked plants are committed one at a time. */
  #turn: Promise<unknown> = Promise.resolve();
  #failure: unknown;

  constructor(sessions: Sessions, commitBatch: CommitBatch) {
    this.#sessions = sessions;
    this.#commitBatch = commitBatch;
  }

  /** Returns the most recent failure, or `undefined` after a success. */
  lastFailure(): string | undefined {
    return this.#failure === undefined ? undefined : describeThrown(this.#failure);
  }

  /** Commits a batch. The result of a locked plant is a promise. */
  async commit(plants: Plants, deadline: number): Promise<(Created | Promise<Created>)[]> {
    const results = await this.#commitOnce(plants, deadline);
    const locked: Locked = new Map();
    const all = plants.map(
      (plant) => results.get(plant) ?? new Promise<Created>((settle) => locked.set(plant, settle)),
    );
    void this.#waitForLocks(locked, deadline);
    return all;
  }

  /** Commits locked plants, again and again until their deadline. */
  async #waitForLocks(locked: Locked, deadline: number): Promise<void> {
    // Ends before the deadline, so that the result names the lock.
    const isOver = () => performance.now() + 5 * lockTimeoutMs >= deadline;
    while (locked.size > 0 && !isOver()) {
      // In a random order: a batch whose first plants are locked would delay the others.
      const plants = [...locked.keys()].toSorted(() => Math.random() - 0.5);
      const committed = this.#turn.then(async (): Promise<Results> =>
        isOver() ? new Map() : this.#commitOnce(plants, deadline),
      );
      this.#turn = committed;
      for (const [plant, created] of await committed) {
        locked.get(plant)?.(created);
        locked.delete(plant);
      }
    }
    for (const settle of locked.values()) settle(notKept(lockedReason));
  }

  async #commitOnce(plants: Plants, deadline: number): Promise<Results> {
    try {
      return await this.#retry(deadline, async (session) => this.#commitBatch(session, plants));
    } catch (thrown) {
      return new Map(plants.map((plant) => [plant, notKept(thrown)]));
    }
  }

  /**
   * Retries work until it succeeds. Throws at the deadline, or when a retry cannot succeed. A
   * statement may end after the deadline: a shorter timeout would close a connection that works.
   */
  async #retry<T>(deadline: number, work: (session: Session) => Promise<T>): Promise<T> {
    for (let count = 0; ; count += 1) {
      try {
        const done = await this.#sessions.use(work);
        this.#failure = undefined;
        return done;
      } catch (thrown) {
        this.#failure = thrown;
        const pauseMs = backoffMs(count);
        const isLast = performance.now() + pauseMs >= deadline;
        if (!isTransient(failureOf(thrown)) || isLast) throw thrown;
        await sleep(pauseMs);
      }
    }
  }
}

/** The plants that wait, each with the function that settles its create. */
type Locked = Map<NewPlant, (created: Created) => void>;

/** Exponential backoff with jitter, so that processes do not retry at the same time. */
function backoffMs(attempt: number): number {
  return Math.min(1_000, 25 * 2 ** attempt) * (0.5 + Math.random() / 2);
}

const lockedReason = new Error(
  'another session has locked its id: a transaction that inserted or deleted it is still open',
);
