import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { timers } from '../test/fixtures.ts';
import { startClock } from './attempt-clock.ts';

describe('startClock', () => {
  it('tells that the time is over, and aborts', async () => {
    const clock = startClock(undefined, 1);
    expect(await clock.interrupted).toBe('timeout');
    expect(clock.signal.aborted).toBe(true);
    clock.stop();
  });

  it('tells that the caller aborted, and aborts', async () => {
    const controller = new AbortController();
    const clock = startClock(controller.signal, 60_000);
    controller.abort();
    expect(clock.signal.aborted).toBe(true);
    expect(await clock.interrupted).toBe('aborted');
    clock.stop();
  });

  it('leaves no listener and no timer behind once it is stopped', () => {
    const { signal } = new AbortController();
    const before = timers();
    const clock = startClock(signal, 60_000);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    expect(timers()).toBe(before + 1);
    clock.stop();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(timers()).toBe(before);
  });
});
