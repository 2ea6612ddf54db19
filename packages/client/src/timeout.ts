/** The reason why work was interrupted: its timeout or its parent signal. */
export type Interruption = 'timeout' | 'aborted';

/**
 * Runs work with a timeout and a parent signal. When the timeout expires or the parent signal
 * aborts, it ignores the result of the work, and returns that of `onInterrupted`. In the end, it
 * aborts the signal of the work, and removes its timer and its listener, which
 * `AbortSignal.timeout` and `AbortSignal.any` would not do.
 */
export function withTimeout<T>(
  parent: AbortSignal | undefined,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
  onInterrupted: (by: Interruption) => T,
): Promise<T> {
  return new Promise((resolve) => {
    const own = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined = undefined;
    const end = (result: T | Promise<T>): void => {
      clearTimeout(timer);
      parent?.removeEventListener('abort', onAbort);
      resolve(result);
      own.abort();
    };
    const interrupt = (by: Interruption): void => end(onInterrupted(by));
    // Not removed by an option `signal`: Node may collect what would remove it.
    const onAbort = (): void => interrupt('aborted');

    if (parent?.aborted) return onAbort();
    // The time may have passed while the thread was blocked.
    if (timeoutMs < 0) return interrupt('timeout');
    // Before the timer: it throws for a value that is no signal, and the timer would throw later.
    parent?.addEventListener('abort', onAbort);
    timer = setTimeout(interrupt, timeoutMs, 'timeout');
    const working = work(own.signal);
    const settle = (): void => end(working);
    working.then(settle, settle);
  });
}

/** Waits for a time, or until a signal aborts. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return withTimeout<void>(
    signal,
    ms,
    () => new Promise(() => {}),
    () => {},
  );
}
