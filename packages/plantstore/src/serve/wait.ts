import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** Settles as the work, or rejects with the reason of the signal as soon as it aborts. */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const settled = new AbortController();
  try {
    await Promise.race([work, once(signal, 'abort', settled)]);
    signal.throwIfAborted();
    return await work;
  } finally {
    settled.abort();
  }
}

/** Waits for the work. Resolves to `false` if it has not settled after this time. */
export async function within(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const settled = new AbortController();
  const timeout = sleep(milliseconds, false, settled).catch(() => false);
  const isDone = await Promise.race([work.then(() => true), timeout]);
  settled.abort();
  return isDone;
}
