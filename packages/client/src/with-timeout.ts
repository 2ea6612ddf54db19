import { undefinedOnThrow, readMember } from './untrusted.ts';

/** The reason why work was interrupted: its timeout or its parent signal. */
export type Interruption = 'timeout' | 'aborted';

/** Adds an abort listener if the signal supports that. */
export const onAbort = (signal: AbortSignal | undefined, listener: () => void): void =>
  undefinedOnThrow(() => signal?.addEventListener('abort', listener));

/** Removes an abort listener. */
export const offAbort = (signal: AbortSignal | undefined, listener: () => void): void =>
  undefinedOnThrow(() => signal?.removeEventListener('abort', listener));

/**
 * Runs work with a timeout and a parent signal. When the timeout expires or the parent signal aborts, it
 * aborts the signal of the work and ignores its result. Removes its timer and its listener, which
 * `AbortSignal.timeout` and `AbortSignal.any` would not do.
 */
export const withTimeout = <T>(
  parent: AbortSignal | undefined,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | Interruption> =>
  new Promise((resolve) => {
    if (readMember(parent, 'aborted') === true) return resolve('aborted');
    // The deadline may have passed while the thread was blocked.
    if (timeoutMs < 0) return resolve('timeout');
    const own = new AbortController();
    const settle = (result: T | Interruption): void => {
      clearTimeout(timer);
      offAbort(parent, abort);
      resolve(result);
    };
    const interrupt = (by: Interruption): void => {
      settle(by);
      own.abort();
    };
    const abort = () => interrupt('aborted');
    const timer = setTimeout(interrupt, timeoutMs, 'timeout');
    onAbort(parent, abort);
    // Work never rejects.
    void work(own.signal).then(settle);
  });
