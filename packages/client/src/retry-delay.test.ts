import { describe, expect, it } from 'vitest';
import { createTestClient, errorOf, hostile, untyped } from '../test/fixtures.ts';
import type { ClientOptions, Retry } from './index.ts';

/** Returns the waits that onRetry receives in a call whose attempts all fail. */
const waitsOf = async (options: Partial<ClientOptions>, headers: Record<string, string> = {}) => {
  const retries: Retry[] = [];
  const client = createTestClient(async () => new Response('', { status: 503, headers }), {
    retries: 4,
    onRetry: (retry) => retries.push(retry),
    ...options,
  });
  const error = await errorOf(client);
  expect(error).toMatchObject({ kind: 'unexpected-status', status: 503 });
  expect(error?.attempts).toBe(retries.length + 1);
  return retries.map(({ waitMs }) => waitMs);
};

describe('the wait before the next attempt', () => {
  it('is a random share of a time that doubles up to a limit', async () => {
    const delays = { retryDelayMs: 2, maxRetryDelayMs: 10 };
    expect(await waitsOf({ ...delays, random: () => 1 })).toEqual([2, 4, 8, 10]);
    expect(await waitsOf({ ...delays, random: () => 0.5 })).toEqual([1, 2, 4, 5]);
    expect(await waitsOf({ ...delays, random: () => 0 })).toEqual([0, 0, 0, 0]);
  });

  it.each([
    () => Number.NaN,
    () => -1,
    () => 1e9,
    () => untyped('x'),
    () => untyped(hostile),
    () => JSON.parse('{') as number,
    untyped(7),
  ])('is half of the backoff for an invalid random function (number %#)', async (random) => {
    expect(await waitsOf({ random, retryDelayMs: 2, maxRetryDelayMs: 2 })).toEqual([1, 1, 1, 1]);
  });

  it('delays the next attempt', async () => {
    const start = performance.now();
    await waitsOf({ retries: 2, retryDelayMs: 40, maxRetryDelayMs: 40, random: () => 1 });
    // A timer may come a millisecond early.
    expect(performance.now() - start).toBeGreaterThan(70);
  });

  it('includes a Retry-After in seconds', async () => {
    const random = () => 1;
    const delays = { retryDelayMs: 5, retries: 1, random };
    expect(await waitsOf(delays, { 'retry-after': '1' })).toEqual([1005]);
    expect(await waitsOf(delays, { 'retry-after': '0' })).toEqual([5]);
  });

  it('includes a Retry-After that is a date', async () => {
    const soon = new Date(Date.now() + 2_000).toUTCString();
    const [waitMs = 0] = await waitsOf({ retryDelayMs: 0, retries: 1 }, { 'retry-after': soon });
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(2_000);
  });

  it('accepts the obsolete RFC 850 date in Retry-After', async () => {
    expect(await waitsOf({}, { 'retry-after': 'Friday, 31-Dec-49 23:59:59 GMT' })).toEqual([]);
    const delays = { retryDelayMs: 1, random: () => 1, retries: 1 };
    const past = { 'retry-after': 'Sunday, 06-Nov-94 08:49:37 GMT' };
    expect(await waitsOf(delays, past)).toEqual([1]);
  });

  it.each([
    'Wed, 21 Oct 2015 07:28:00 GMT',
    '',
    '-1',
    '1.5',
    '1e9',
    'soon',
    '2099-01-01',
    // Two combined fields.
    '1, 2',
    // Without a time zone, which Date.parse reads as local time.
    'Thu Dec 31 23:59:59 2099',
    'x, GMT',
  ])('ignores a past or invalid Retry-After: "%s"', async (header) => {
    const delays = { retryDelayMs: 1, random: () => 1, retries: 1 };
    expect(await waitsOf(delays, { 'retry-after': header })).toEqual([1]);
  });

  it.each(['31', '9'.repeat(400), 'Fri, 31 Dec 2999 23:59:59 GMT'])(
    'ends the call at once if a Retry-After of %s would exceed its time limit',
    async (header) => {
      const start = performance.now();
      expect(await waitsOf({}, { 'retry-after': header })).toEqual([]);
      expect(performance.now() - start).toBeLessThan(10_000);
    },
  );

  it('ends the call at once if the backoff would exceed its time limit', async () => {
    const delays = { retryDelayMs: 30_000, maxRetryDelayMs: 30_000, random: () => 1 };
    expect(await waitsOf(delays)).toEqual([]);
  });
});
