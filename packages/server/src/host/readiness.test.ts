import { describe, expect, it, vi } from 'vitest';
import { silent } from '../logger.ts';
import type { StoreState } from './open-store.ts';
import { createReadiness } from './readiness.ts';

const answers = { kind: 'answers' } as const;
const away = { kind: 'away', reason: 'the file was removed' } as const;

/** A check that comes to what it is told, when it is told. */
const onDemand = () => {
  const asked: ((state: StoreState) => void)[] = [];
  const check = async (): Promise<StoreState> =>
    new Promise((resolve) => {
      asked.push(resolve);
    });
  return { check, asked };
};

describe('readiness', () => {
  it('begins with the start, ends with the stop, and is what the store says between', async () => {
    let state: StoreState = answers;
    const { isReady, start, stop } = createReadiness(silent);
    expect(await isReady()).toBe(false);
    start(async () => state);
    expect(await isReady()).toBe(true);
    state = away;
    expect(await isReady()).toBe(false);
    state = answers;
    expect(await isReady()).toBe(true);
    stop();
    expect(await isReady()).toBe(false);
  });

  it('is one check for all who ask meanwhile, and another one after', async () => {
    const { check, asked } = onDemand();
    const { isReady, start } = createReadiness(silent);
    start(check);
    const told = [isReady(), isReady(), isReady()];
    expect(asked).toHaveLength(1);
    asked[0]?.(answers);
    expect(await Promise.all(told)).toEqual([true, true, true]);
    const next = isReady();
    asked[1]?.(away);
    expect(await next).toBe(false);
    expect(asked).toHaveLength(2);
  });

  it('is none once a stop came while the store was asked', async () => {
    const { check, asked } = onDemand();
    const { isReady, start, stop } = createReadiness(silent);
    start(check);
    const told = isReady();
    stop();
    asked[0]?.(answers);
    expect(await told).toBe(false);
  });

  it('is none where the store does not answer in a second, or its check is broken', async () => {
    vi.useFakeTimers();
    const { check, asked } = onDemand();
    const hanging = createReadiness(silent);
    hanging.start(check);
    const told = [hanging.isReady(), hanging.isReady()];
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await Promise.all(told)).toEqual([false, false]);
    // The one that hangs is not joined by others.
    const later = hanging.isReady();
    expect(asked).toHaveLength(1);
    asked[0]?.(answers);
    expect(await later).toBe(true);
    vi.useRealTimers();

    const broken = createReadiness(silent);
    broken.start(async () => {
      throw new Error('a bug');
    });
    expect(await broken.isReady()).toBe(false);
  });

  it('is logged where it changes', async () => {
    let state: StoreState = answers;
    const logged: unknown[] = [];
    const log = (fields: unknown, message: string) => void logged.push([message, fields]);
    const { isReady, start } = createReadiness({ ...silent, info: log, warn: log });
    start(async () => state);
    // What a driver hangs on an error may be a row or a password.
    const cause = Object.assign(new Error('gone'), { detail: 's3cr3t' });
    for (const next of [answers, away, away, answers, answers, { ...away, cause }]) {
      state = next;
      await isReady();
    }
    expect(logged).toEqual([
      ['not ready: the store is away', { reason: 'the file was removed' }],
      ['ready again: the store answers', {}],
      [
        'not ready: the store is away',
        {
          reason: 'the file was removed',
          cause: expect.stringMatching(/^Error: gone\n(?!.*s3cr3t)/s) as unknown,
        },
      ],
    ]);
  });
});
