/** The reason why work was interrupted: its timeout or its parent signal. */
export type Interruption = 'timeout' | 'aborted';

/**
 * Runs work with a timeout and a parent signal. When the timeout expires or the parent signal aborts, it ignores the
 * result of the work, and returns that of `onInterrupted`. In the end, it aborts the signal of the work, and
 * removes its timer and its listener, which `AbortSignal.timeout` and `AbortSignal.any` would not do.
 */
export function withTimeout<T>(
  parent: AbortSignal | undefined,
  timeoutMs: number,
  work?: (signal: AbortSignal) => Promise<T>,
  onInterrupted?: (by: Interruption) => T,
): Promise<T> {
  return new Promise((resolve) => {
    const own = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined = undefined;
    const settle = (result: T): void => {
      clearTimeout(timer);
      parent?.removeEventListener('abort', abort);
      resolve(result);
      own.abort();
    };
    const interrupt = (by: Interruption): void => settle(onInterrupted?.(by) as T);
    // Not removed by an option `signal`: Node may collect what would remove it.
    const abort = (): void => interrupt('aborted');
    if (parent?.aborted) return abort();
    // The deadline may have passed while the thread was blocked.
    if (timeoutMs < 0) return interrupt('timeout');
    // Before the timer: it throws for a value that is no signal, and the timer would throw later.
    parent?.addEventListener('abort', abort);
    timer = setTimeout(interrupt, timeoutMs, 'timeout');
    // Only Workers reject it: it belongs to a request that has ended, and would never settle.
    work?.(own.signal).then(settle, () => interrupt('timeout'));
  });
}
