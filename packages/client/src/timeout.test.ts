import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { never, timers, untyped } from '../test/fixtures.ts';
import { withTimeout } from './timeout.ts';

const started = () => {
  throw new Error('started');
};

describe('withTimeout', () => {
  it('withTimeout returns the result of the work, and removes its timer and its listener', async () => {
    const { signal } = new AbortController();
    const before = timers();
    const working = withTimeout(
      signal,
      60_000,
      async (own) => own.aborted,
      () => true,
    );
    expect(timers()).toBe(before + 1);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    expect(await working).toBe(false);
    expect(timers()).toBe(before);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('withTimeout returns timeout when the time is over, and aborts the work', async () => {
    let workSignal: AbortSignal | undefined;
    const ended = await withTimeout<unknown>(
      undefined,
      1,
      (signal) => {
        workSignal = signal;
        return never();
      },
      (by) => by,
    );
    expect([ended, workSignal?.aborted]).toEqual(['timeout', true]);
  });

  it('withTimeout returns aborted when the parent signal aborts, and aborts the work', async () => {
    const controller = new AbortController();
    let workSignal: AbortSignal | undefined;
    const ending = withTimeout<unknown>(
      controller.signal,
      60_000,
      (signal) => {
        workSignal = signal;
        return never();
      },
      (by) => by,
    );
    controller.abort();
    expect(workSignal?.aborted).toBe(true);
    expect(await ending).toBe('aborted');
  });

  it('withTimeout sets no timer for a parent that is no signal, and rejects', async () => {
    const before = timers();
    const working = withTimeout(untyped('signal'), 60_000, started, (by) => by);
    await expect(working).rejects.toThrow(TypeError);
    expect(timers()).toBe(before);
  });

  it('withTimeout does not start the work if the parent signal has already aborted', async () => {
    const ended = await withTimeout<unknown>(AbortSignal.abort(), 60_000, started, (by) => by);
    expect(ended).toBe('aborted');
  });

  it('withTimeout does not start the work if the time is already over', async () => {
    const ended = await withTimeout<unknown>(undefined, -1, started, (by) => by);
    expect(ended).toBe('timeout');
  });
});
