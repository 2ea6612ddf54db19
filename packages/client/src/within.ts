import { readMember, safely } from './safely.ts';

/** What ended some work from outside: its clock, or the signal above it. */
export type Interruption = 'timeout' | 'aborted';

/** Hears of a signal's abort, as far as one can listen to it; answers how to leave no listener behind. */
export const listen = (signal: unknown, onAbort: () => void): (() => void) => {
  safely(() => (signal as AbortSignal).addEventListener('abort', onAbort));
  return () => safely(() => (signal as AbortSignal).removeEventListener('abort', onAbort));
};

/**
 * Waits for some work, until its time is over or `above` aborts: then the signal that the work was
 * given aborts, and nobody waits for it any more. `AbortSignal.any` and `AbortSignal.timeout` would
 * outlive the work; this leaves no timer and no listener behind.
 */
export const within = async <T>(
  above: AbortSignal | undefined,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | Interruption> => {
  if (readMember(above, 'aborted') === true) return 'aborted';
  // Such as where something kept the whole thread waiting: nothing may begin after its end.
  if (timeoutMs < 0) return 'timeout';
  const own = new AbortController();
  let stop = (): void => {};
  const interrupted = new Promise<Interruption>((resolve) => {
    const end = (by: Interruption): void => {
      resolve(by);
      own.abort();
    };
    const timer = setTimeout(end, timeoutMs, 'timeout');
    const stopListening = above && listen(above, () => end('aborted'));
    stop = () => {
      clearTimeout(timer);
      stopListening?.();
    };
  });
  try {
    return await Promise.race([interrupted, work(own.signal)]);
  } finally {
    stop();
  }
};
