/** Calls `onTimeout` after a fixed duration, unless the returned function is called before. */
export type Timeouts = (onTimeout: () => void) => () => unknown;

type Wait = {
  readonly endsAt: number;
  /** `undefined` once the wait has stopped: a Set of V8 can refer to removed entries until the next full garbage collection. */
  onTimeout: (() => void) | undefined;
};

/**
 * Creates timeouts of one duration, in milliseconds, that share one timer: waits end in the order in
 * which they start. A separate timer would take a sixteenth of the CPU time of a request. The timer does not keep the
 * process alive, which the socket of a request does.
 */
export const createTimeouts = (durationMs: number): Timeouts => {
  const waits = new Set<Wait>();
  let timer: NodeJS.Timeout | undefined;

  const startTimer = (delayMs: number) => setTimeout(endDue, delayMs).unref();
  const endDue = () => {
    timer = undefined;
    for (const wait of waits) {
      const remainingMs = wait.endsAt - performance.now();
      if (remainingMs > 0) {
        timer = startTimer(remainingMs);
        return;
      }
      waits.delete(wait);
      wait.onTimeout?.();
    }
  };

  return (onTimeout) => {
    const wait: Wait = { endsAt: performance.now() + durationMs, onTimeout };
    waits.add(wait);
    timer ??= startTimer(durationMs);
    return () => {
      wait.onTimeout = undefined;
      waits.delete(wait);
    };
  };
};

/**
 * Creates timeouts of one duration, in milliseconds, with separate timers: workerd cancels a timer with
 * the request that started it.
 */
export const createSeparateTimeouts =
  (durationMs: number): Timeouts =>
  (onTimeout) => {
    const timer = setTimeout(onTimeout, durationMs);
    return () => clearTimeout(timer);
  };

/** Settles as the promise, or resolves with `undefined` after the timeout. */
export const undefinedAfterTimeout = <T>(
  startTimeout: Timeouts,
  promise: PromiseLike<T>,
): Promise<T | undefined> =>
  new Promise((resolve) => {
    const stop = startTimeout(() => resolve(undefined));
    const settle = () => {
      stop();
      resolve(promise);
    };
    promise.then(settle, settle);
  });
