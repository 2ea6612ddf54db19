import { undefinedOnThrow, readMember } from './untrusted.ts';

/** The reason why work was interrupted: its timeout or its parent signal. */
export type Interruption = 'timeout' | 'aborted';

/** Adds an abort listener if the signal supports that; returns a function that removes it. */
export const onAbort = (signal: AbortSignal | undefined, listener: () => void): (() => void) => {
  undefinedOnThrow(() => signal?.addEventListener('abort', listener));
  return () => undefinedOnThrow(() => signal?.removeEventListener('abort', listener));
};

/**
 * Runs work with a timeout and a parent signal. When the timeout expires or the parent signal aborts, it
 * aborts the signal of the work and ignores its result. Removes its timer and its listener, which
 * `AbortSignal.timeout` and `AbortSignal.any` would not do.
 */
export const withTimeout = async <T>(
  parent: AbortSignal | undefined,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | Interruption> => {
  if (readMember(parent, 'aborted') === true) return 'aborted';
  // The deadline may have passed while the thread was blocked.
  if (timeoutMs < 0) return 'timeout';
  const own = new AbortController();
  let cleanUp = (): void => {};
  try {
    return await new Promise<T | Interruption>((resolve, reject) => {
      const end = (by: Interruption): void => {
        resolve(by);
        own.abort();
      };
      const timer = setTimeout(end, timeoutMs, 'timeout');
      const removeListener = onAbort(parent, () => end('aborted'));
      cleanUp = () => {
        clearTimeout(timer);
        removeListener();
      };
      work(own.signal).then(resolve, reject);
    });
  } finally {
    cleanUp();
  }
};
