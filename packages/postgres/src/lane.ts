import { setTimeout as sleep } from 'node:timers/promises';
import type { NewPlant } from '@plantstore/core';
import type { Commit, Created } from '@plantstore/core/group-commit';
import { err, ok } from 'neverthrow';
import type { CommitBatch, Outcome } from './commit-batch.ts';
import type { Address } from './database-url.ts';
import { describeThrown, remedyOf } from './server-failure.ts';
import type { Session } from './session.ts';
import { readStatement, runningStatement, type Statement } from './statements.ts';

/** Commits batches one after another, on a connection that it renews when it must. */
export type Lane = {
  readonly commit: Commit;
  /** What went wrong last, until something goes right. */
  readonly trouble: () => string | undefined;
  readonly close: () => Promise<void>;
};

/** What a lane needs. */
export type LaneOptions = {
  /** Connects to the leader, trying the server that failed last, or throws why there is none. */
  readonly connect: (failed: Address | undefined) => Promise<Session>;
  readonly session: Session | undefined;
  /** The table of plants, as it is written in SQL. */
  readonly table: string;
  readonly commitBatch: CommitBatch;
  /** How long a statement may take, in milliseconds. */
  readonly statementTimeoutMs: number;
  /**
   * Creates a plant whose id another session holds locked, apart from its batch. Without it, the
   * lane itself waits for the lock.
   */
  readonly createApart?: (plant: NewPlant) => Promise<Created>;
};

const firstPauseMs = 25;
const longestPauseMs = 1_000;
const maxUnanswered = 2;

/** How long an insert may wait for a locked id, in milliseconds. */
const lockTimeoutsMs = {
  /** Other hosts that create the same plants lock ids as well, for the duration of a commit. */
  batch: 100,
  /** A part of a batch in which an id is locked: its other plants wait meanwhile. */
  part: 10,
  /** A plant apart from others. */
  apart: 250,
};

/** Doubled each time, and drawn by lot, so that hosts do not come back in step. */
const pauseMs = (attempt: number): number =>
  Math.min(longestPauseMs, firstPauseMs * 2 ** attempt) * (0.5 + Math.random() / 2);

const missing =
  'a trigger dropped it, a policy hides it from this role, or it was removed just now';

const locked =
  'another session holds its id: a transaction that inserted or deleted it has not ended';

const refused = (thrown: unknown): Created =>
  err({
    kind: 'store-unavailable',
    reason: `the database did not keep the plant: ${describeThrown(thrown)}`,
    cause: thrown,
  });

type Results = Awaited<ReturnType<Commit>>;

/** Times of `performance.now()`, and how long the next insert may wait for each locked id. */
type Clock = { readonly beganAt: number; readonly giveUpAt: number; readonly lockMs: number };

const createdOf = ({ id }: NewPlant, outcome: Outcome): Created => {
  switch (outcome) {
    case 'kept':
      return ok();
    case 'id-taken':
      return err({ kind: 'id-taken', id });
    case 'missing':
      return refused(new Error(missing));
  }
};

export const createLane = ({
  connect,
  table,
  commitBatch,
  statementTimeoutMs,
  createApart,
  ...first
}: LaneOptions): Lane => {
  let { session } = first;
  let trouble: unknown;
  let running: Promise<unknown> | undefined;
  /** What cancels each of the last statements that had no answer. */
  const unanswered: (() => void)[] = [];

  const leave = (): void => {
    const cancel = session?.leave();
    if (cancel === undefined) return;
    // Not at once: a server that is slower than we wait would never be done with any. The repetition
    // finds what such a statement has kept.
    unanswered.push(cancel);
    if (unanswered.length > maxUnanswered) unanswered.shift()?.();
  };

  /** Repeats work until it succeeds, and throws where repeating it is no use or time is up. */
  const persist = async <T>(giveUpAt: number, work: (on: Session) => Promise<T>): Promise<T> => {
    for (let count = 0; ; count += 1) {
      try {
        if (session?.isUsable() !== true) session = await connect(session?.address);
        const done = await work(session);
        trouble = undefined;
        return done;
      } catch (thrown) {
        trouble = thrown;
        const remedy = remedyOf(thrown);
        if (remedy === 'reconnect') leave();
        const pause = pauseMs(count);
        const isHopeless = remedy === 'divide' || remedy === 'give-up';
        if (isHopeless || performance.now() + pause >= giveUpAt) throw thrown;
        await sleep(pause);
      }
    }
  };

  // The timeout is not cut to what is left until the deadline: a connection that was hard to get
  // would be destroyed.
  const insert = async (plants: readonly NewPlant[], giveUpAt: number, lockMs: number) =>
    persist(giveUpAt, async (on) =>
      commitBatch(on, plants, { statementMs: statementTimeoutMs, lockMs }),
    );

  const run = async (statement: Statement, giveUpAt: number) =>
    persist(giveUpAt, async (on) => on.query(statement, statementTimeoutMs));

  /** Creates a plant whose id is locked, unless it stays so for longer than a host of ours takes. */
  const waitForLock = async (plant: NewPlant, { giveUpAt, beganAt }: Clock): Promise<Created> => {
    const elapsedMs = () => performance.now() - beganAt;
    let lockMs = Math.max(lockTimeoutsMs.part, Math.ceil(lockTimeoutsMs.apart - elapsedMs()));
    try {
      for (;;) {
        // A transaction that was committing when the insert timed out precedes ours in the log. Once
        // ours is durable, so is that one, and its locks are released, however slow the standby is.
        await run(readStatement(table, [plant]), giveUpAt);
        const outcomes = await insert([plant], giveUpAt, lockMs);
        if (outcomes !== 'locked') return createdOf(plant, outcomes[0] ?? 'missing');
        // A slow insert of another host, or one of ours that had no answer, ends by itself.
        const inserts = await run(runningStatement(table, elapsedMs()), giveUpAt);
        if (inserts.length === 0 || performance.now() >= giveUpAt) throw new Error(locked);
        lockMs = lockTimeoutsMs.apart;
      }
    } catch (thrown) {
      return refused(thrown);
    }
  };

  /** So that one plant at fault does not fail its neighbours. */
  const commitHalves = async (plants: readonly NewPlant[], clock: Clock): Promise<Results> => {
    const middle = Math.ceil(plants.length / 2);
    const before = await commit(plants.slice(0, middle), clock);
    return [...before, ...(await commit(plants.slice(middle), clock))];
  };

  const commitLocked = async (plants: readonly NewPlant[], clock: Clock): Promise<Results> => {
    const [plant] = plants;
    if (plant === undefined || performance.now() >= clock.giveUpAt) {
      return plants.map(() => refused(new Error(locked)));
    }
    if (plants.length > 1) return commitHalves(plants, { ...clock, lockMs: lockTimeoutsMs.part });
    return [createApart?.(plant) ?? (await waitForLock(plant, clock))];
  };

  const commit = async (plants: readonly NewPlant[], clock: Clock): Promise<Results> => {
    try {
      const outcomes = await insert(plants, clock.giveUpAt, clock.lockMs);
      if (outcomes === 'locked') return await commitLocked(plants, clock);
      return plants.map((plant, index) => createdOf(plant, outcomes[index] ?? 'missing'));
    } catch (thrown) {
      return plants.length > 1 && remedyOf(thrown) === 'divide'
        ? commitHalves(plants, clock)
        : plants.map(() => refused(thrown));
    }
  };

  return {
    commit: async (plants, giveUpAt) => {
      const committing = commit(plants, {
        giveUpAt,
        lockMs: createApart === undefined ? lockTimeoutsMs.part : lockTimeoutsMs.batch,
        beganAt: performance.now(),
      });
      running = committing;
      return committing;
    },
    trouble: () => (trouble === undefined ? undefined : describeThrown(trouble)),
    close: async () => {
      // Its creates may have been settled by their deadline.
      await running;
      await session?.close();
    },
  };
};
