import { orUndefined, readMember } from './lenient.ts';

/** What ended some work from outside: its clock, or its parent signal. */
export type Interruption = 'timeout' | 'aborted';

/** Calls a listener when a signal aborts, as far as it can be listened to; returns how to remove it. */
export const onAbort = (signal: AbortSignal | undefined, listener: () => void): (() => void) => {
  orUndefined(() => signal?.addEventListener('abort', listener));
  return () => orUndefined(() => signal?.removeEventListener('abort', listener));
};

/**
 * Waits for some work, until its time is over or its parent signal aborts: then the signal of the work
 * aborts, and what the work still returns is ignored. Removes its timer and its listener, which
 * `AbortSignal.timeout` and `AbortSignal.any` would leave behind.
 */
export const within = async <T>(
  parent: AbortSignal | undefined,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | Interruption> => {
  if (readMember(parent, 'aborted') === true) return 'aborted';
  // The thread may have been blocked: nothing begins after its end.
  if (timeoutMs < 0) return 'timeout';
  const own = new AbortController();
  let stop = (): void => {};
  try {
    return await new Promise<T | Interruption>((resolve, reject) => {
      const end = (by: Interruption): void => {
        resolve(by);
        own.abort();
      };
      const timer = setTimeout(end, timeoutMs, 'timeout');
      const removeListener = onAbort(parent, () => end('aborted'));
      stop = () => {
        clearTimeout(timer);
        removeListener();
      };
      work(own.signal).then(resolve, reject);
    });
  } finally {
    stop();
  }
};
