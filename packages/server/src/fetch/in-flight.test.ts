import { expect, it } from 'vitest';
import { createInFlight } from './in-flight.ts';

it('requests in flight count no longer than their time limit, because a cancelled one may never complete', async () => {
  const enter = createInFlight(1, 50);
  const began = performance.now();
  enter();
  const enterTwice = () => [enter(), enter()].map((leave) => leave !== undefined);
  await expect.poll(enterTwice, { interval: 5 }).toEqual([true, false]);
  expect(performance.now() - began).toBeGreaterThanOrEqual(50);
});
