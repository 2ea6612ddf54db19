import { describe, expect, it } from 'vitest';
import { createInFlight } from './in-flight.ts';

describe('requests in flight', () => {
  it('requests in flight are limited, and completed ones no longer count', () => {
    const { enter, leave } = createInFlight(2, 60_000);
    const first = enter();
    expect(enter()).toBeDefined();
    expect(enter()).toBeUndefined();
    if (first !== undefined) leave(first);
    expect(enter()).toBeDefined();
    expect(enter()).toBeUndefined();
  });

  it('requests in flight count no longer than their time limit, because a cancelled request may never complete', async () => {
    const { enter } = createInFlight(1, 50);
    const began = performance.now();
    enter();
    const enterTwice = () => [enter(), enter()].map((entered) => entered !== undefined);
    await expect.poll(enterTwice, { interval: 5 }).toEqual([true, false]);
    expect(performance.now() - began).toBeGreaterThanOrEqual(50);
  });
});
