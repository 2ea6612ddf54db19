import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreUnavailable } from '@plantstore/core';
import { err, type Result } from 'neverthrow';
import { describeCause, type Logger } from '@plantstore/server';

type StoreState = Result<void, Omit<StoreUnavailable, 'kind'>>;

export type StoreCheck = () => Promise<StoreState>;

/** Whether plants can be created here now. */
export type Readiness = {
  readonly isReady: () => Promise<boolean>;
  /** Becomes ready whenever the check reports that the store is available. */
  readonly start: (check: StoreCheck) => void;
  /** Stays not ready from now on. */
  readonly stop: () => void;
};

/** Timeout of a check, in milliseconds. */
const checkTimeoutMs = 1_000;

/** Creates a readiness that starts as not ready and logs each change of the store. */
export function createReadiness(log: Logger): Readiness {
  const timedOut = unavailable(`the check timed out after ${checkTimeoutMs} ms`);
  let check: StoreCheck | undefined;
  let wasAvailable = true;

  const logChange = (state: StoreState): void => {
    if (state.isOk() === wasAvailable) return;
    wasAvailable = state.isOk();
    if (state.isOk()) log.info({}, 'ready again: the store is available');
    else {
      const { reason, cause } = state.error;
      const described = cause === undefined ? {} : { cause: describeCause(cause) };
      log.warn({ reason, ...described }, 'not ready: the store is unavailable');
    }
  };

  return {
    async isReady() {
      const current = check;
      if (current === undefined) return false;
      const timeout = sleep(checkTimeoutMs, timedOut, { ref: false });
      const state = await Promise.race([current(), timeout]);
      // stop() may have been called during the check.
      if (check === undefined) return false;
      logChange(state);
      return state.isOk();
    },
    start(next) {
      check = shareChecks(next);
    },
    stop() {
      check = undefined;
    },
  };
}

/** Calls during a check share its result. */
function shareChecks(check: StoreCheck): StoreCheck {
  let current: Promise<StoreState> | undefined;
  return async () => {
    current ??= check()
      .catch((cause: unknown) => unavailable('the check failed', cause))
      .finally(() => {
        current = undefined;
      });
    return current;
  };
}

function unavailable(reason: string, cause?: unknown): StoreState {
  return err({ reason, cause });
}
