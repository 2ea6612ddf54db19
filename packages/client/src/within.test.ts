import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { never, timers } from '../test/fixtures.ts';
import { within } from './within.ts';

describe('within', () => {
  it('answers what the work answers, and leaves no timer and no listener behind', async () => {
    const { signal } = new AbortController();
    const before = timers();
    const working = within(signal, 60_000, async (own) => own.aborted);
    expect(timers()).toBe(before + 1);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    expect(await working).toBe(false);
    expect(timers()).toBe(before);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('tells that the time is over, and aborts the work', async () => {
    let given: AbortSignal | undefined;
    const ended = await within(undefined, 1, (signal) => {
      given = signal;
      return never();
    });
    expect([ended, given?.aborted]).toEqual(['timeout', true]);
  });

  it('tells that the signal above aborted, and aborts the work', async () => {
    const controller = new AbortController();
    let given: AbortSignal | undefined;
    const ending = within(controller.signal, 60_000, (signal) => {
      given = signal;
      return never();
    });
    controller.abort();
    expect(given?.aborted).toBe(true);
    expect(await ending).toBe('aborted');
  });

  it('does not begin where the signal above has aborted already', async () => {
    const ended = await within(AbortSignal.abort(), 60_000, () =>
      Promise.reject(new Error('began')),
    );
    expect(ended).toBe('aborted');
  });

  it('does not begin where the time is over already', async () => {
    const ended = await within(undefined, -1, () => Promise.reject(new Error('began')));
    expect(ended).toBe('timeout');
  });
});
