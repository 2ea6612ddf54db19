import { err, ok } from 'neverthrow';
import { describe, expect, it, vi } from 'vitest';
import { createReadiness, type StoreCheck } from './readiness.ts';

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
    const { isReady, start, stop } = createReadiness(silent);
    expect(await isReady()).toBe(false);
    start(async () => state);
    expect(await isReady()).toBe(true);
    state = unavailable;
    expect(await isReady()).toBe(false);
    state = available;
    expect(await isReady()).toBe(true);
    stop();
    expect(await isReady()).toBe(false);
  });

  it('concurrent calls of readiness share one check, and a later call starts another one', async () => {
    const { check, calls } = onDemand();
    const { isReady, start } = createReadiness(silent);
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
    const { isReady, start, stop } = createReadiness(silent);
    start(check);
    const result = isReady();
    stop();
    calls[0]?.(available);
    expect(await result).toBe(false);
  });

  it('readiness is not ready if the check takes more than a second or rejects', async () => {
    vi.useFakeTimers();
    const { check, calls } = onDemand();
    const hanging = createReadiness(silent);
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

    const broken = createReadiness(silent);
    broken.start(async () => {
      throw new Error('a bug');
    });
    expect(await broken.isReady()).toBe(false);
  });

  it('readiness logs each change of its state', async () => {
    let state: StoreState = available;
    const logged: unknown[] = [];
    const log = (fields: unknown, message: string) => void logged.push([message, fields]);
    const { isReady, start } = createReadiness({ ...silent, info: log, warn: log });
    start(async () => state);
    // A driver may attach a row or a password to its error.
    const cause = Object.assign(new Error('gone'), { detail: 's3cr3t' });
    for (const next of [
      available,
      unavailable,
      unavailable,
      available,
      available,
      err({ reason, cause }),
    ]) {
      state = next;
      await isReady();
    }
    expect(logged).toEqual([
      ['not ready: the store is unavailable', { reason }],
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
