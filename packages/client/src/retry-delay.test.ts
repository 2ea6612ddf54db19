import { afterEach, describe, expect, it, vi } from 'vitest';
import { createTestClient, errorOf, isPrompt, plant } from '../test/fixtures.ts';
import { defaultLimits } from './settings.ts';
import type { ClientOptions, Retry } from './index.ts';
import { backoffMs } from './retry.ts';

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

/** Returns the wait that onRetry receives, and ends it by an abort. */
const firstWaitOf = async (headers: Record<string, string>, retryDelayMs = 0) => {
  const controller = new AbortController();
  const waits: number[] = [];
  const client = createTestClient(async () => new Response('', { status: 503, headers }), {
    retries: 1,
    retryDelayMs,
    onRetry({ waitMs }) {
      waits.push(waitMs);
      controller.abort();
    },
  });
  expect(await errorOf(client, controller.signal)).toMatchObject({ kind: 'aborted', attempts: 1 });
  return waits[0];
};

/** Makes the random share of each backoff the same. */
const useShare = (share: number) => vi.spyOn(Math, 'random').mockReturnValue(share);

afterEach(() => {
  vi.restoreAllMocks();
});

describe('wait before the next attempt', () => {
  it('the wait before the next attempt is a random share of a time that doubles up to a limit', async () => {
    const delays = { retryDelayMs: 2, maxRetryDelayMs: 10 };
    useShare(1);
    expect(await waitsOf(delays)).toEqual([2, 4, 8, 10]);
    useShare(0.5);
    expect(await waitsOf(delays)).toEqual([1, 2, 4, 5]);
    useShare(0);
    expect(await waitsOf(delays)).toEqual([0, 0, 0, 0]);
  });

  it('the wait before the next attempt is 0 without a delay, also after a thousand retries', () => {
    const limits = { ...defaultLimits, retryDelayMs: 0 };
    expect([0, 1, 1_023, 1_024].map((retried) => backoffMs(limits, retried))).toEqual([0, 0, 0, 0]);
  });

  it('the wait before the next attempt uses the limits of the call, or those of the client', async () => {
    useShare(1);
    const waits: number[] = [];
    const client = createTestClient(async () => new Response('', { status: 503 }), {
      retries: 2,
      retryDelayMs: 1,
      maxRetryDelayMs: 60_000,
      onRetry: ({ waitMs }) => waits.push(waitMs),
    });
    await client.createPlant(plant, { retryDelayMs: 2, maxRetryDelayMs: 3 });
    await client.createPlant(plant);
    expect(waits).toEqual([2, 3, 1, 2]);
  });

  it('the next attempt is sent after the wait', async () => {
    useShare(1);
    const start = performance.now();
    await waitsOf({ retries: 2, retryDelayMs: 40, maxRetryDelayMs: 40 });
    // A timer may come a millisecond early.
    expect(performance.now() - start).toBeGreaterThan(70);
  });

  it('the wait before the next attempt includes a Retry-After in seconds', async () => {
    useShare(1);
    expect(await firstWaitOf({ 'retry-after': '1' }, 5)).toBe(1_005);
    expect(await firstWaitOf({ 'retry-after': '0' }, 5)).toBe(5);
  });

  it('the wait before the next attempt includes a Retry-After that is a date', async () => {
    const soon = new Date(Date.now() + 20_000).toUTCString();
    const waitMs = await firstWaitOf({ 'retry-after': soon });
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(20_000);
  });

  it.each([
    ['IMF-fixdate', 'Sun, 06 Nov 1994 08:49:37 GMT'],
    ['RFC 850', 'Sunday, 06-Nov-94 08:49:37 GMT'],
    ['asctime', 'Sun Nov  6 08:49:37 1994'],
  ])(
    'the wait before the next attempt includes a Retry-After as a date of %s, compared with the Date of the response',
    async (...row) => {
      const retryAfter = row[1];
      // The clock of this machine is three decades later.
      for (const date of [
        'Sun, 06 Nov 1994 08:49:36 GMT',
        'Sunday, 06-Nov-94 08:49:36 GMT',
        'Sun Nov  6 08:49:36 1994',
      ]) {
        const headers = { 'retry-after': retryAfter, date };
        expect(await firstWaitOf(headers)).toBe(1_000);
      }
    },
  );

  it('a Retry-After in the form of asctime is read as UTC in every time zone', async () => {
    const zone = process.env['TZ'];
    process.env['TZ'] = 'Asia/Kolkata';
    try {
      const headers = {
        'retry-after': 'Wed Nov 16 08:49:37 1994',
        date: 'Wed, 16 Nov 1994 08:49:36 GMT',
      };
      expect(await firstWaitOf(headers)).toBe(1_000);
    } finally {
      if (zone === undefined) delete process.env['TZ'];
      else process.env['TZ'] = zone;
    }
  });

  it.each(['', 'soon', '-1', '1994'])(
    'a Retry-After date is compared with the clock of the client if the Date of the response is "%s"',
    async (date) => {
      const soon = new Date(Date.now() + 20_000).toUTCString();
      const headers = { 'retry-after': soon, date };
      const waitMs = await firstWaitOf(headers);
      expect(waitMs).toBeGreaterThan(0);
      expect(waitMs).toBeLessThanOrEqual(20_000);
    },
  );

  it('a Retry-After date that is not after the Date of the response does not extend the wait', async () => {
    const headers = {
      'retry-after': 'Sun, 06 Nov 2044 08:49:37 GMT',
      date: 'Sun, 06 Nov 2044 08:49:38 GMT',
    };
    expect(await waitsOf({ retryDelayMs: 0, retries: 1 }, headers)).toEqual([0]);
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
    'x, GMT',
    'Thu, 31 Dec 2099 23:59:59',
    'Thu, 31 Dec 2099 23:59:59 +0000',
    'Thu, 31 Foo 2099 23:59:59 GMT',
    'on Thu, 31 Dec 2099 23:59:59 GMT',
    'Thu Dec 31 23:59:59 2099 GMT',
    'Thu Dec 31 2099 23:59:59',
    'Thu Dec 31 23:59:59 1999',
    'Sunday, 06-Nov-94 08:49:37 GMT',
  ])('a past or invalid Retry-After is ignored: "%s"', async (header) => {
    useShare(1);
    const delays = { retryDelayMs: 1, retries: 1 };
    expect(await waitsOf(delays, { 'retry-after': header })).toEqual([1]);
  });

  it.each([
    '31',
    '9'.repeat(400),
    'Fri, 31 Dec 2999 23:59:59 GMT',
    'Friday, 31-Dec-49 23:59:59 GMT',
    'Thu Dec 31 23:59:59 2099',
  ])('a call ends at once if a Retry-After of %s would exceed its time limit', async (header) => {
    const waits = waitsOf({ timeoutMs: 30_000 }, { 'retry-after': header });
    expect(await isPrompt(waits)).toBe(true);
    expect(await waits).toEqual([]);
  });

  it('a call ends at once if the backoff would exceed its time limit', async () => {
    useShare(1);
    const delays = { retryDelayMs: 30_000, maxRetryDelayMs: 30_000, timeoutMs: 30_000 };
    expect(await waitsOf(delays)).toEqual([]);
  });
});

it('a Retry-After that cannot be read counts as absent', async () => {
  const waits: number[] = [];
  const get = (name: string) => {
    if (name === 'retry-after') throw new Error('not serialized');
    return null;
  };
  const response = { status: 503, headers: { get }, body: null };
  const client = createTestClient(
    async () => ({ ...response, arrayBuffer: async () => new ArrayBuffer(0) }),
    {
      retries: 1,
      retryDelayMs: 0,
      onRetry: ({ waitMs }) => waits.push(waitMs),
    },
  );
  const error = await errorOf(client);
  expect(error).toMatchObject({ status: 503, attempts: 2 });
  expect(error).not.toHaveProperty('retryAfterMs');
  expect(waits).toEqual([0]);
});
