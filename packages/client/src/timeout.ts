import { undefinedOnThrow } from './untrusted.ts';

/** The reason why work was interrupted: its timeout or its parent signal. */
export type Interruption = 'timeout' | 'aborted';

/**
 * Runs work with a timeout and a parent signal. When the timeout expires or the parent signal aborts, it
 * aborts the signal of the work, ignores its result, and returns that of `onInterrupted`. Removes its timer and its
 * listener, which `AbortSignal.timeout` and `AbortSignal.any` would not do.
 */
export function withTimeout<T>(
  parent: AbortSignal | undefined,
  timeoutMs: number,
  work?: (signal: AbortSignal) => Promise<T>,
  onInterrupted?: (by: Interruption) => T,
): Promise<T> {
  return new Promise((resolve) => {
    if (parent?.aborted) return resolve(onInterrupted?.('aborted') as T);
    // The deadline may have passed while the thread was blocked.
    if (timeoutMs < 0) return resolve(onInterrupted?.('timeout') as T);
    const own = new AbortController();
    const settle = (result: T): void => {
      clearTimeout(timer);
      offAbort(parent, abort);
      resolve(result);
    };
    const interrupt = (by: Interruption): void => {
      settle(onInterrupted?.(by) as T);
      own.abort();
    };
    const abort = () => interrupt('aborted');
    const timer = setTimeout(interrupt, timeoutMs, 'timeout');
    onAbort(parent, abort);
    // Only Workers reject it: it belongs to a request that has ended, and would never settle.
    work?.(own.signal).then(settle, () => interrupt('timeout'));
  });
}

/** Adds an abort listener if the signal supports that. */
export const onAbort = (signal: AbortSignal | undefined, listener: () => void): void => {
  undefinedOnThrow(() => signal?.addEventListener('abort', listener));
};

/** Removes an abort listener. */
export const offAbort = (signal: AbortSignal | undefined, listener: () => void): void => {
  undefinedOnThrow(() => signal?.removeEventListener('abort', listener));
};
