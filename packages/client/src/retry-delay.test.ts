import { describe, expect, it } from 'vitest';
import { clientWith, errorOf, hostile, untyped } from '../test/fixtures.ts';
import type { ClientOptions, Retry } from './index.ts';

/** The waits that a client announces before the fifth attempt fails too. */
const waitsOf = async (options: Partial<ClientOptions>, headers: Record<string, string> = {}) => {
  const retries: Retry[] = [];
  const client = clientWith(async () => new Response('', { status: 503, headers }), {
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
  ])('takes half for a source of randomness that is none (number %#)', async (random) => {
    expect(await waitsOf({ random, retryDelayMs: 2, maxRetryDelayMs: 2 })).toEqual([1, 1, 1, 1]);
  });

  it('is really waited', async () => {
    const start = performance.now();
    await waitsOf({ retries: 2, retryDelayMs: 40, maxRetryDelayMs: 40, random: () => 1 });
    // A timer may come a millisecond early.
    expect(performance.now() - start).toBeGreaterThan(70);
  });

  it('is at least what Retry-After asks for, in seconds', async () => {
    const random = () => 1;
    const delays = { retryDelayMs: 5, retries: 1, random };
    expect(await waitsOf(delays, { 'retry-after': '1' })).toEqual([1005]);
    expect(await waitsOf(delays, { 'retry-after': '0' })).toEqual([5]);
  });

  it('is at least what Retry-After asks for, as a date', async () => {
    const soon = new Date(Date.now() + 2_000).toUTCString();
    const [waitMs = 0] = await waitsOf({ retryDelayMs: 0, retries: 1 }, { 'retry-after': soon });
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(2_000);
  });

  it('knows the older form of a date, which recipients must accept', async () => {
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
    // Of two fields.
    '1, 2',
    // Without a zone, which Date.parse takes for local time.
    'Thu Dec 31 23:59:59 2099',
    'x, GMT',
  ])('takes no notice of a Retry-After that is over or none: "%s"', async (header) => {
    const delays = { retryDelayMs: 1, random: () => 1, retries: 1 };
    expect(await waitsOf(delays, { 'retry-after': header })).toEqual([1]);
  });

  it.each(['31', '9'.repeat(400), 'Fri, 31 Dec 2999 23:59:59 GMT'])(
    'ends the call at once where a Retry-After of %s would outlast its clock',
    async (header) => {
      const start = performance.now();
      expect(await waitsOf({}, { 'retry-after': header })).toEqual([]);
      expect(performance.now() - start).toBeLessThan(10_000);
    },
  );

  it('ends the call at once where the backoff would outlast its clock', async () => {
    const delays = { retryDelayMs: 30_000, maxRetryDelayMs: 30_000, random: () => 1 };
    expect(await waitsOf(delays)).toEqual([]);
  });
});
