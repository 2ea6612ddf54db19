import { describe, expect, it } from 'vitest';
import { hostile } from '../test/fixtures.ts';
import { readSettings } from './client-options.ts';

const timeoutOf = (attemptTimeoutMs: unknown) =>
  readSettings({ attemptTimeoutMs }).attemptTimeoutMs;

describe('readSettings', () => {
  it.each([undefined, null, Number.NaN, -1, 0, -Infinity, '5', 5n, {}, hostile])(
    'takes ten seconds where the attempt timeout is garbage (number %#)',
    (garbage) => {
      expect(timeoutOf(garbage)).toBe(10_000);
    },
  );

  it('takes any positive number, as far as timers reach', () => {
    expect([0.5, 1, 2 ** 31 - 1, 2 ** 31, Infinity].map(timeoutOf)).toEqual([
      0.5,
      1,
      2 ** 31 - 1,
      2 ** 31 - 1,
      2 ** 31 - 1,
    ]);
  });

  it.each([undefined, null, 7, hostile])(
    'takes the defaults from garbage number %#, and reads nothing else',
    (options) => {
      expect(readSettings(options)).toEqual({
        url: undefined,
        token: undefined,
        askToken: undefined,
        headers: undefined,
        fetch: undefined,
        attemptTimeoutMs: 10_000,
        timeoutMs: 30_000,
        retries: 3,
        retryDelayMs: 200,
        maxRetryDelayMs: 5_000,
        random: Math.random,
        onRetry: undefined,
      });
    },
  );

  it.each([-0.5, -Number.MIN_VALUE])('takes the default for %s, as it is below 0', (below) => {
    const settings = { retries: below, retryDelayMs: below, maxRetryDelayMs: below };
    const defaults = { retries: 3, retryDelayMs: 200, maxRetryDelayMs: 5_000 };
    expect(readSettings(settings)).toMatchObject(defaults);
  });

  it('takes 0 for no retries and no delay', () => {
    const none = { retries: 0, retryDelayMs: 0, maxRetryDelayMs: 0 };
    expect(readSettings(none)).toMatchObject(none);
  });
});
