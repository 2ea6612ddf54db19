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
