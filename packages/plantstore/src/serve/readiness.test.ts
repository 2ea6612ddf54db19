import { err, ok } from 'neverthrow';
import { describe, expect, it, vi } from 'vitest';
import { createReadiness, type StoreCheck } from './readiness.ts';

const serving = () => true;
const silent = { info() {}, warn() {}, error() {} };

type StoreState = Awaited<ReturnType<StoreCheck>>;

const reason = 'the file was removed';
const available: StoreState = ok();
const unavailable: StoreState = err({ reason });

/** A check whose calls settle when the test resolves them. */
const onDemand = () => {
  const calls: ((state: StoreState) => void)[] = [];
  const check = async (): Promise<StoreState> =>
    new Promise((resolve) => {
      calls.push(resolve);
    });
  return { check, calls };
};

describe('readiness', () => {
  it('a store that is available makes the server ready between start and stop', async () => {
    let state: StoreState = available;
    let isServing = true;
    const { isReady, start } = createReadiness(silent, () => isServing);
    expect(await isReady()).toBe(false);
    start(async () => state);
    expect(await isReady()).toBe(true);
    state = unavailable;
    expect(await isReady()).toBe(false);
    state = available;
    expect(await isReady()).toBe(true);
    isServing = false;
    expect(await isReady()).toBe(false);
  });

  it('concurrent calls of readiness share one check, and a later call starts another one', async () => {
    const { check, calls } = onDemand();
    const { isReady, start } = createReadiness(silent, serving);
    start(check);
    const results = [isReady(), isReady(), isReady()];
    expect(calls).toHaveLength(1);
    calls[0]?.(available);
    expect(await Promise.all(results)).toEqual([true, true, true]);
    const next = isReady();
    calls[1]?.(unavailable);
    expect(await next).toBe(false);
    expect(calls).toHaveLength(2);
  });

  it('readiness is not ready if stopped during a check', async () => {
    const { check, calls } = onDemand();
    let isServing = true;
    const { isReady, start } = createReadiness(silent, () => isServing);
    start(check);
    const result = isReady();
    isServing = false;
    calls[0]?.(available);
    expect(await result).toBe(false);
  });

  it('readiness is not ready if the check takes more than a second or rejects', async () => {
    vi.useFakeTimers();
    const { check, calls } = onDemand();
    const hanging = createReadiness(silent, serving);
    hanging.start(check);
    const results = [hanging.isReady(), hanging.isReady()];
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await Promise.all(results)).toEqual([false, false]);
    // A later call shares the check that still hangs.
    const later = hanging.isReady();
    expect(calls).toHaveLength(1);
    calls[0]?.(available);
    expect(await later).toBe(true);
    vi.useRealTimers();

    const broken = createReadiness(silent, serving);
    broken.start(async () => {
      throw new Error('a bug');
    });
    expect(await broken.isReady()).toBe(false);
  });

  it('readiness logs each change of its state and of the reason without its numbers', async () => {
    let state: StoreState = available;
    const logged: unknown[] = [];
    const log = (fields: unknown, message: string) => void logged.push([message, fields]);
    const { isReady, start } = createReadiness({ ...silent, info: log, warn: log }, serving);
    start(async () => state);
    // A driver may attach a row or a password to its error.
    const cause = Object.assign(new Error('gone'), { detail: 's3cr3t' });
    for (const next of [
      available,
      unavailable,
      unavailable,
      err({ reason: 'a line of process 7' }),
      err({ reason: 'a line of process 8' }),
      available,
      available,
      err({ reason, cause }),
    ]) {
      state = next;
      await isReady();
    }
    expect(logged).toEqual([
      ['not ready: the store is unavailable', { reason }],
      ['not ready: the store is unavailable', { reason: 'a line of process 7' }],
      ['ready again: the store is available', {}],
      [
        'not ready: the store is unavailable',
        {
          reason,
          cause: expect.stringMatching(/^Error: gone\n(?!.*s3cr3t)/s) as unknown,
        },
      ],
    ]);
  });
});
