import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for the work. Resolves to `false` if it has not settled after this time. */
export async function within(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const settled = new AbortController();
  const timeout = sleep(milliseconds, false, settled).catch(() => false);
  const isDone = await Promise.race([work.then(() => true), timeout]);
  settled.abort();
  return isDone;
}
