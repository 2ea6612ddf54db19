import { quietly } from './quietly.ts';

export type Interruption = 'timeout' | 'aborted';

/**
 * What can end an attempt from outside: its time and the caller's signal. `AbortSignal.any` and
 * `AbortSignal.timeout` would outlive the attempt; this leaves nothing behind once it is closed.
 */
export const startClock = (caller: AbortSignal | undefined, timeoutMs: number) => {
  const own = new AbortController();
  const { promise: interrupted, resolve } = Promise.withResolvers<Interruption>();
  // First the outcome, then the signal: what fetch makes of the abort always comes too late.
  const interrupt = (by: Interruption): void => {
    resolve(by);
    own.abort();
  };
  const onAbort = (): void => interrupt('aborted');
  const timer = setTimeout(interrupt, timeoutMs, 'timeout');
  void quietly(() => caller?.addEventListener('abort', onAbort));
  const stop = (): void => {
    clearTimeout(timer);
    void quietly(() => caller?.removeEventListener('abort', onAbort));
  };
  return { signal: own.signal, interrupted, stop };
};
