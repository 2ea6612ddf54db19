import { describe, expect, it } from 'vitest';
import { createInFlight } from './in-flight.ts';

describe('requests in flight', () => {
  it('are limited, and those that leave count no longer', () => {
    const { enter, leave } = createInFlight(2, 60_000);
    const first = enter();
    expect(enter()).toBeDefined();
    expect(enter()).toBeUndefined();
    if (first !== undefined) leave(first);
    expect(enter()).toBeDefined();
    expect(enter()).toBeUndefined();
  });

  it('count no longer than their time limit, as a cancelled request may never leave', async () => {
    const { enter } = createInFlight(1, 50);
    const began = performance.now();
    enter();
    await expect.poll(enter, { interval: 5 }).toBeDefined();
    expect(performance.now() - began).toBeGreaterThanOrEqual(50);
    expect(enter()).toBeUndefined();
  });
});
