import { expect, it } from 'vitest';
import { throwAfterTimeout } from './throw-after-timeout.ts';

const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;

it('throwAfterTimeout ignores a rejection after the timeout', async () => {
  const work = Promise.withResolvers<never>();
  await expect(throwAfterTimeout(1, work.promise)).rejects.toThrow('no response within 1 ms');
  // Vitest fails for an unhandled rejection.
  work.reject(new Error('too late'));
});

it.each([
  ['resolves', async () => 7],
  ['rejects', async () => Promise.reject(new Error('refused'))],
])('throwAfterTimeout leaves no timer once the work %s', async (_, work) => {
  const before = timers();
  await throwAfterTimeout(100_000, work()).catch(() => {});
  expect(timers()).toBe(before);
});
