import { quietly } from './quietly.ts';

export type Interruption = 'timeout' | 'aborted';

/**
 * What can end an attempt from outside: its time and the caller's signal. `AbortSignal.any` and
 * `AbortSignal.timeout` would outlive the attempt; this leaves nothing behind once it is closed.
 */
export const startClock = (caller: AbortSignal | undefined, timeoutMs: number) => {
  const own = new AbortController();
  let interrupt = (_by: Interruption): void => {};
  const interrupted = new Promise<Interruption>((resolve) => {
    interrupt = (by) => {
      resolve(by);
      own.abort();
    };
  });
  const onAbort = (): void => interrupt('aborted');
  const timer = setTimeout(() => interrupt('timeout'), timeoutMs);
  void quietly(() => caller?.addEventListener('abort', onAbort));
  const stop = (): void => {
    clearTimeout(timer);
    void quietly(() => caller?.removeEventListener('abort', onAbort));
  };
  return { signal: own.signal, interrupted, stop };
};
