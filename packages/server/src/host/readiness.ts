import { describeCause } from '../describe-cause.ts';
import type { Logger } from '../logger.ts';
import { createTimeouts, withTimeout } from '../timeouts.ts';
import type { StoreCheck, StoreState } from './open-store.ts';

/** Whether plants can be created here now. */
export type Readiness = {
  readonly isReady: () => Promise<boolean>;
  /** Requests are accepted from now on, as far as the store answers. */
  readonly start: (check: StoreCheck) => void;
  /** From now on it is not ready any more, whatever the store says. */
  readonly stop: () => void;
};

/** How long a store may take to answer, in milliseconds. */
const checkDeadlineMs = 1_000;

/** Checks that come while one is going on share it. */
const shared = (check: StoreCheck): StoreCheck => {
  let current: Promise<StoreState> | undefined;
  return async () => {
    current ??= check()
      .catch((cause: unknown): StoreState => ({ kind: 'away', reason: 'the check failed', cause }))
      .finally(() => {
        current = undefined;
      });
    return current;
  };
};

const late: StoreState = {
  kind: 'away',
  reason: `no answer in ${checkDeadlineMs} ms`,
};

/** Starts as not ready; what the store says is logged where it changes. */
export const createReadiness = (log: Logger): Readiness => {
  const timeouts = createTimeouts(checkDeadlineMs);
  let check: StoreCheck | undefined;
  let last: StoreState['kind'] = 'answers';

  const tell = (state: StoreState): void => {
    if (state.kind === last) return;
    last = state.kind;
    if (state.kind === 'answers') log.info({}, 'ready again: the store answers');
    else {
      const { reason, cause } = state;
      const told = cause === undefined ? {} : { cause: describeCause(cause) };
      log.warn({ reason, ...told }, 'not ready: the store is away');
    }
  };

  return {
    async isReady() {
      const asked = check;
      if (asked === undefined) return false;
      const state = (await withTimeout(timeouts, asked())) ?? late;
      // A stop may have come meanwhile.
      if (check === undefined) return false;
      tell(state);
      return state.kind === 'answers';
    },
    start(next) {
      check = shared(next);
    },
    stop() {
      check = undefined;
    },
  };
};
