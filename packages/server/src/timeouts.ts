/** A wait that has not ended yet. */
export type Wait = {
  readonly endsAt: number;
  readonly onTimeout: () => void;
  /** Where it is the timer of this wait alone. */
  readonly timer?: ReturnType<typeof setTimeout>;
};

/** Timeouts of one duration. */
export type Timeouts = {
  /** Calls `onTimeout` when the time is up, unless the wait is stopped before. */
  readonly start: (onTimeout: () => void) => Wait;
  readonly stop: (wait: Wait) => void;
};

/**
 * Creates timeouts of one duration, in milliseconds, that share one timer: waits end in the order in
 * which they start. A timer each would take a sixteenth of the CPU time of a request.
 */
export const createTimeouts = (durationMs: number): Timeouts => {
  const waits = new Set<Wait>();
  let timer: NodeJS.Timeout | undefined;

  const endDue = () => {
    timer = undefined;
    for (const wait of waits) {
      const left = wait.endsAt - performance.now();
      if (left > 0) {
        timer = setTimeout(endDue, left);
        return;
      }
      waits.delete(wait);
      wait.onTimeout();
    }
  };

  return {
    start(onTimeout) {
      const wait = { endsAt: performance.now() + durationMs, onTimeout };
      waits.add(wait);
      if (timer === undefined) timer = setTimeout(endDue, durationMs);
      else if (waits.size === 1) timer.ref();
      return wait;
    },
    stop(wait) {
      waits.delete(wait);
      // A timer without a wait keeps no process alive.
      if (waits.size === 0) timer?.unref();
    },
  };
};

/**
 * Creates timeouts of one duration, in milliseconds, with a timer each: workerd ends a timer with the
 * request that started it.
 */
export const createSeparateTimeouts = (durationMs: number): Timeouts => ({
  start(onTimeout) {
    const timer = setTimeout(onTimeout, durationMs);
    return { endsAt: performance.now() + durationMs, onTimeout, timer };
  },
  stop: ({ timer }) => clearTimeout(timer),
});

/** Settles as the promise does, or resolves with `undefined` when its time is up first. */
export const withTimeout = <T>(
  timeouts: Timeouts,
  promise: PromiseLike<T>,
): Promise<T | undefined> =>
  new Promise((resolve) => {
    const wait = timeouts.start(() => resolve(undefined));
    const settle = () => {
      timeouts.stop(wait);
      resolve(promise);
    };
    promise.then(settle, settle);
  });
