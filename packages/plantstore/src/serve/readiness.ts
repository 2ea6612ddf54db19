import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreUnavailable } from '@plantstore/core';
import { describeCause, type Logger } from '@plantstore/server';
import { err, type Result } from 'neverthrow';

/**
 * Creates a readiness, which logs each change of the store and of the reason why it is unavailable.
 *
 * @param isServing - it is not ready otherwise
 */
export function createReadiness(log: Logger, isServing: () => boolean): Readiness {
  const timedOut = unavailable(`the check timed out after ${checkTimeoutMs} ms`);
  let check: StoreCheck | undefined;
  let current: Promise<StoreState> | undefined;
  let lastReason: string | undefined;
  return {
    async isReady() {
      if (check === undefined || !isServing()) return false;
      // Calls during a check share its result.
      current ??= check()
        .catch((cause: unknown) => unavailable('the check failed', cause))
        .finally(() => (current = undefined));
      const timeout = sleep(checkTimeoutMs, timedOut, { ref: false });
      const state = await Promise.race([current, timeout]);
      // It may have stopped during the check.
      if (!isServing()) return false;
      logChange(state);
      return state.isOk();
    },
    start(next) {
      check = next;
    },
  };

  function logChange(state: StoreState): void {
    const was = lastReason;
    // A time or a process in a reason is no other reason.
    lastReason = state.isOk() ? undefined : state.error.reason.replaceAll(/\d+/g, '');
    if (lastReason === was) return;
    if (state.isOk()) log.info({}, 'ready again: the store is available');
    else {
      const { reason, cause } = state.error;
      const described = cause === undefined ? {} : { cause: describeCause(cause) };
      log.warn({ reason, ...described }, 'not ready: the store is unavailable');
    }
  }
}

type StoreState = Result<void, Omit<StoreUnavailable, 'kind'>>;

export type StoreCheck = () => Promise<StoreState>;

/** Whether plants can be created here now. */
export type Readiness = {
  readonly isReady: () => Promise<boolean>;
  /** Sets the check of the store. */
  readonly start: (check: StoreCheck) => void;
};

/** Timeout of a check, in milliseconds. */
const checkTimeoutMs = 1_000;

function unavailable(reason: string, cause?: unknown): StoreState {
  return err({ reason, cause });
}
