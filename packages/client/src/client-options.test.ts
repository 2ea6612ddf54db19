import { describe, expect, it } from 'vitest';
import { hostile } from '../test/fixtures.ts';
import { readSettings } from './client-options.ts';

const timeoutOf = (attemptTimeoutMs: unknown) =>
  readSettings({ attemptTimeoutMs }).limits.attemptTimeoutMs;

describe('readSettings', () => {
  it.each([undefined, null, Number.NaN, -1, 0, -Infinity, '5', 5n, {}, hostile])(
    'uses 10 seconds for an invalid attempt timeout (number %#)',
    (invalid) => {
      expect(timeoutOf(invalid)).toBe(10_000);
    },
  );

  it('accepts every positive number up to the longest timer', () => {
    expect([0.5, 1, 2 ** 31 - 1, 2 ** 31, Infinity].map(timeoutOf)).toEqual([
      0.5,
      1,
      2 ** 31 - 1,
      2 ** 31 - 1,
      2 ** 31 - 1,
    ]);
  });

  it.each([undefined, null, 7, hostile])(
    'returns the defaults for invalid options (number %#)',
    (options) => {
      expect(readSettings(options)).toEqual({
        url: undefined,
        token: undefined,
        getToken: undefined,
        headers: undefined,
        fetch: undefined,
        limits: {
          attemptTimeoutMs: 10_000,
          timeoutMs: 30_000,
          retries: 3,
          retryDelayMs: 200,
          maxRetryDelayMs: 5_000,
        },
        onRetry: undefined,
      });
    },
  );

  it.each([-0.5, -Number.MIN_VALUE])(
    'uses the default of a limit for %s, which is below 0',
    (below) => {
      const settings = { retries: below, retryDelayMs: below, maxRetryDelayMs: below };
      const defaults = { retries: 3, retryDelayMs: 200, maxRetryDelayMs: 5_000 };
      expect(readSettings(settings).limits).toMatchObject(defaults);
    },
  );

  it('accepts 0 for no retries and no delay', () => {
    const none = { retries: 0, retryDelayMs: 0, maxRetryDelayMs: 0 };
    expect(readSettings(none).limits).toMatchObject(none);
  });
});
