import { setTimeout as sleep } from 'node:timers/promises';
import type { NewPlant } from '@plantstore/core';
import type { Commit, Created } from '@plantstore/core/group-commit';
import type { CommitBatch } from './commit-batch.ts';
import { describeThrown } from '../open/errors.ts';
import { NoServer, notKept, retryStrategyOf } from './failures.ts';
import type { Session } from '../open/session.ts';
import type { Sessions } from './sessions.ts';
import { readStatement, runningStatement } from './statements.ts';

/** Creates a lane, which commits batches sequentially, and retries after failures. */
export function createLane({ use, table, commitBatch, createLocked }: LaneOptions) {
  let failure: unknown;
  /** Cancel functions of the latest statements without a response. */
  const cancels: (() => void)[] = [];

  const abandon = (session: Session): void => {
    const cancel = session.abandon();
    if (cancel === undefined) return;
    // Not canceled immediately: a slow server can complete the statement, and the retry finds the stored plants.
    cancels.push(cancel);
    if (cancels.length > maxRunningStatements) cancels.shift()?.();
  };

  /**
   * Retries work until it succeeds. Throws at the deadline, or when a retry cannot succeed. A statement may end after the
   * deadline: a shorter timeout would close a connection that works.
   */
  const retry = async <T>(deadline: number, work: (on: Session) => Promise<T>): Promise<T> => {
    for (let count = 0; ; count += 1) {
      try {
        const done = await use(work, abandon);
        failure = undefined;
        return done;
      } catch (thrown) {
        failure = thrown;
        // They may occupy the last connection that the server permits.
        if (thrown instanceof NoServer) for (const cancel of cancels.splice(0)) cancel();
        const strategy = retryStrategyOf(thrown);
        const pause = backoffMs(count);
        const isTransient = strategy === 'repeat' || strategy === 'reconnect';
        if (!isTransient || performance.now() + pause >= deadline) throw thrown;
        await sleep(pause);
      }
    }
  };

  /** Creates a plant whose id is locked, unless the lock lasts longer than a create of another process. */
  const waitForLock = async (
    plants: readonly NewPlant[],
    { deadline, startedAt }: Timing,
  ): Promise<Results> => {
    const elapsedMs = () => performance.now() - startedAt;
    let lockMs = Math.max(lockTimeoutsMs.part, Math.ceil(lockTimeoutsMs.single - elapsedMs()));
    let isLastAttempt = false;
    for (;;) {
      // This statement is durable only after every earlier commit in the WAL. A transaction that was committing
      // when the insert timed out has then released its locks, however slow the standby is.
      await retry(deadline, async (on) => on.query(readStatement(table, plants)));
      const created = await retry(deadline, async (on) => commitBatch(on, plants, lockMs));
      if (created !== 'locked') return created;
      if (isLastAttempt || performance.now() >= deadline) throw new Error(lockedReason);
      // A slow insert of another process, or an earlier one without a response, releases its locks when it ends.
      const running = runningStatement(table, elapsedMs());
      const inserts = await retry(deadline, async (on) => on.query(running));
      // It may have ended since the lock timed out.
      isLastAttempt = inserts.length === 0;
      lockMs = isLastAttempt ? lockTimeoutsMs.part : lockTimeoutsMs.single;
    }
  };

  const commit = async (plants: readonly NewPlant[], timing: Timing): Promise<Results> => {
    const { deadline, lockMs } = timing;
    try {
      const created = await retry(deadline, async (on) => commitBatch(on, plants, lockMs));
      if (created !== 'locked') return created;
      if (performance.now() >= deadline) throw new Error(lockedReason);
      if (plants.length > 1) {
        // Split, so that one locked plant does not fail the others.
        const part = { ...timing, lockMs: lockTimeoutsMs.part };
        const middle = Math.ceil(plants.length / 2);
        const before = await commit(plants.slice(0, middle), part);
        return [...before, ...(await commit(plants.slice(middle), part))];
      }
      return createLocked === undefined
        ? await waitForLock(plants, timing)
        : plants.map(async (plant) => createLocked(plant));
    } catch (thrown) {
      return plants.map(() => notKept(thrown));
    }
  };

  return {
    commit: async (plants: readonly NewPlant[], deadline: number): Promise<Results> => {
      const lockMs = createLocked === undefined ? lockTimeoutsMs.part : lockTimeoutsMs.batch;
      return commit(plants, { deadline, lockMs, startedAt: performance.now() });
    },
    /** Returns the most recent failure, or `undefined` after a success. */
    lastFailure: () => (failure === undefined ? undefined : describeThrown(failure)),
  };
}

export type Lane = ReturnType<typeof createLane>;

type LaneOptions = {
  readonly use: Sessions['use'];
  /** The table of plants, as a quoted SQL identifier. */
  readonly table: string;
  readonly commitBatch: CommitBatch;
  /** Creates a plant whose id another session has locked. Without it, the lane itself waits for the lock. */
  readonly createLocked?: (plant: NewPlant) => Promise<Created>;
};

const firstPauseMs = 25;
const maxPauseMs = 1_000;
const maxRunningStatements = 2;
/** Timeouts of the wait for a locked id, in milliseconds. */
const lockTimeoutsMs = {
  /** Of a batch. Other processes that create the same plants lock ids for the duration of a commit. */
  batch: 100,
  /** Of a part of a batch with a locked id: short, because its other plants wait. */
  part: 10,
  /** Of a plant that is created separately. */
  single: 250,
};

/** Exponential backoff with jitter, so that processes do not retry at the same time. */
function backoffMs(attempt: number): number {
  return Math.min(maxPauseMs, firstPauseMs * 2 ** attempt) * (0.5 + Math.random() / 2);
}

const lockedReason =
  'another session has locked its id: a transaction that inserted or deleted it is still open';
type Results = Awaited<ReturnType<Commit>>;
/** Start and deadline as times of `performance.now()`, and the timeout of the next wait for a locked id. */
type Timing = { readonly startedAt: number; readonly deadline: number; readonly lockMs: number };
