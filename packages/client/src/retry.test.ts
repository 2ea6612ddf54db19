import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createTestClient,
  errorOf,
  hostile,
  isPrompt,
  never,
  plant,
  rejecting,
  respondWith,
  token,
  untyped,
} from '../test/fixtures.ts';
import { startServer } from '../test/start-server.ts';
import { type ClientOptions, createClient, type CreatePlantOptions, type Retry } from './index.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Starts a server that handles its first requests with the given listeners, and then responds with 200. */
const failing = async (...failures: Parameters<typeof startServer>[0][]) => {
  const bodies: string[] = [];
  const baseUrl = await startServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      bodies.push(body);
      (failures.shift() ?? respondWith(200, '{"name":"a"}'))(request, response);
    });
  });
  return { baseUrl, bodies };
};

const attemptsOf = async (options: Partial<ClientOptions>) => {
  const settled: number[] = [];
  const client = createClient({ baseUrl: '', token, retryDelayMs: 0, ...options });
  const created = await client.createPlant(plant, {
    onSettled: ({ attempts }) => settled.push(attempts),
  });
  return [created.isOk(), ...settled];
};

describe('client retries', () => {
  it.each([408, 429, 502, 503, 504])(
    'a client retries after a response with status %i',
    async (status) => {
      const { baseUrl, bodies } = await failing(respondWith(status, 'soon'));
      expect(await attemptsOf({ baseUrl })).toEqual([true, 2]);
      expect(bodies).toHaveLength(2);
      expect(bodies[0]).toBe(bodies[1]);
    },
  );

  it('a client retries after a connection reset, before or during the response', async () => {
    const { baseUrl } = await failing(
      (request) => request.socket.resetAndDestroy(),
      (request, response) => {
        response.writeHead(200, { 'content-length': 99 });
        response.write('{"name":', () => request.socket.resetAndDestroy());
      },
    );
    expect(await attemptsOf({ baseUrl })).toEqual([true, 3]);
  });

  it('a client retries after an attempt that timed out', async () => {
    const outcomes = [never, async () => new Response('{"name":"a"}')];
    const fetch = async () => outcomes.shift()!();
    const options = { baseUrl: 'http://127.0.0.1:9', fetch, attemptTimeoutMs: 50 };
    expect(await attemptsOf(options)).toEqual([true, 2]);
  });

  it.each([
    [undefined, 4],
    [0, 1],
    [1, 2],
    [6, 7],
  ])('a client makes as many retries as the option retries, %s', async (retries, attempts) => {
    const client = createTestClient(rejecting('broken'), { retries, retryDelayMs: 0 });
    expect(await errorOf(client)).toMatchObject({ kind: 'network', attempts });
  });

  it.each([
    [400, '{"error":1401,"message":"taken"}', 'refused'],
    [400, '<h1>Bad</h1>', 'response-invalid'],
    [200, '<h1>Welcome</h1>', 'response-invalid'],
    [401, '{"error":2402,"message":"no"}', 'refused'],
    [404, '', 'unexpected-status'],
    [500, '{"error":3500,"message":"a fault"}', 'refused'],
    [302, '', 'unexpected-status'],
  ])('a client does not retry after the response %i %s', async (status, body, kind) => {
    const { baseUrl, bodies } = await failing(respondWith(status, body));
    expect(await errorOf(createClient({ baseUrl, token }))).toMatchObject({ kind, attempts: 1 });
    expect(bodies).toHaveLength(1);
  });

  const takes: readonly ((response: Response) => unknown)[] = [
    async (response) => response.text(),
    (response) => response.body?.getReader(),
    async (response) => {
      const reader = response.body?.getReader();
      await reader?.read();
      reader?.releaseLock();
    },
  ];

  it.each([200, 503])(
    'a client does not retry after a response with status %i whose body fetch has read or locked',
    async (status) => {
      for (const take of takes) {
        const fetch = async () => {
          const response = new Response('{"name":"a"}', { status });
          await take(response);
          return response;
        };
        expect(await errorOf(createTestClient(fetch, { retries: 3 }))).toEqual({
          kind: 'response-invalid',
          message: `unexpected response with status ${status}: fetch has read its body`,
          status,
          body: '',
          attempts: 1,
        });
      }
    },
  );
});

/** Returns the waits of a call whose attempts all fail. */
const waitsOf = async (
  options: Partial<ClientOptions>,
  headers: Record<string, string> = {},
  callOptions: CreatePlantOptions = {},
) => {
  const waits: number[] = [];
  const client = createTestClient(async () => new Response('', { status: 503, headers }), {
    retries: 4,
    onRetry: ({ waitMs }) => waits.push(waitMs),
    ...options,
  });
  const created = await client.createPlant(plant, callOptions);
  expect(created._unsafeUnwrapErr().attempts).toBe(waits.length + 1);
  return waits;
};

/** Makes the random share of each backoff the same. */
const useShare = (share: number) => vi.spyOn(Math, 'random').mockReturnValue(share);

describe('wait before the next attempt', () => {
  it('the wait before the next attempt is a random share of a time that doubles up to a limit', async () => {
    const delays = { retryDelayMs: 2, maxRetryDelayMs: 10 };
    useShare(1);
    expect(await waitsOf(delays)).toEqual([2, 4, 8, 10]);
    useShare(0.5);
    expect(await waitsOf(delays)).toEqual([1, 2, 4, 5]);
  });

  it('the wait before the next attempt is 0 without a delay, also after a thousand retries', async () => {
    expect(new Set(await waitsOf({ retryDelayMs: 0, retries: 1_030 }))).toEqual(new Set([0]));
  });

  it('the wait before the next attempt uses the limits of the call', async () => {
    useShare(1);
    const limits = { retryDelayMs: 1, maxRetryDelayMs: 60_000 };
    const call = { retries: 2, retryDelayMs: 2, maxRetryDelayMs: 3 };
    expect(await waitsOf(limits, {}, call)).toEqual([2, 3]);
  });

  it('the next attempt is sent after the wait', async () => {
    useShare(1);
    const start = performance.now();
    await waitsOf({ retries: 2, retryDelayMs: 40, maxRetryDelayMs: 40 });
    // A timer may come a millisecond early.
    expect(performance.now() - start).toBeGreaterThan(70);
  });

  it('the wait before the next attempt includes Retry-After', async () => {
    useShare(1);
    const delays = { retryDelayMs: 5, retries: 1 };
    expect(await waitsOf(delays, { 'retry-after': '1' })).toEqual([1_005]);
    expect(await waitsOf(delays, { 'retry-after': '0' })).toEqual([5]);
    expect(await waitsOf(delays, { 'retry-after': 'soon' })).toEqual([5]);
  });

  it.each([
    ['a Retry-After', {}, { 'retry-after': '31' }],
    ['the backoff', { retryDelayMs: 30_000, maxRetryDelayMs: 30_000 }, {}],
  ])('a call ends at once if %s would exceed its time limit', async (_, delays, headers) => {
    useShare(1);
    const waits = waitsOf({ timeoutMs: 30_000, ...delays }, headers);
    expect(await isPrompt(waits)).toBe(true);
    expect(await waits).toEqual([]);
  });
});

describe('Retry-After', () => {
  const now = 'Sun, 06 Nov 1994 08:49:37 GMT';
  /** Returns the delay that the error of a response has. */
  const delayOf = async (retryAfter: string, date = now) => {
    const headers = { 'Retry-After': retryAfter, Date: date };
    const response = async () => new Response('', { status: 503, headers });
    return (await errorOf(createTestClient(response)))?.retryAfterMs;
  };

  it.each([
    ['90', 90_000],
    ['0', 0],
    ['9'.repeat(400), 2 ** 31 - 1],
    ['Sun, 06 Nov 1994 08:49:38 GMT', 1_000],
    ['Sunday, 06-Nov-94 08:49:38 GMT', 1_000],
    ['Sun Nov  6 08:49:38 1994', 1_000],
    ['Sun, 06 Nov 1994 08:49:36 GMT', 0],
  ])('the Retry-After %s is in the error as %i ms, from any form of Date', async (...row) => {
    const [retryAfter, delayMs] = row;
    for (const date of [now, 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])
      expect(await delayOf(retryAfter, date)).toBe(delayMs);
  });

  it.each(['', 'soon', '-1', '1994'])(
    'a Retry-After date is compared with the clock of the client if the Date of the response is "%s"',
    async (date) => {
      const delayMs = await delayOf(new Date(Date.now() + 20_000).toUTCString(), date);
      expect(delayMs).toBeGreaterThan(0);
      expect(delayMs).toBeLessThanOrEqual(20_000);
    },
  );

  it('a Retry-After in the form of asctime is read as UTC in every time zone', async () => {
    vi.stubEnv('TZ', 'Asia/Kolkata');
    try {
      expect(await delayOf('Sun Nov  6 08:49:38 1994')).toBe(1_000);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it.each([
    ['', '-1', '1.5', '1e9', 'soon', '1, 2', 'x, GMT', '2099-01-01', 'Thu Dec 31 2099 23:59:59'],
    ['Thu, 31 Dec 2099 23:59:59', 'Thu, 31 Dec 2099 23:59:59 +0000'],
    ['Thu, 31 Foo 2099 23:59:59 GMT', 'on Thu, 31 Dec 2099 23:59:59 GMT'],
    ['Thu Dec 31 23:59:59 2099 GMT'],
  ])('a Retry-After that is invalid counts as absent: %s', async (...invalid) => {
    for (const retryAfter of invalid) expect(await delayOf(retryAfter)).toBeUndefined();
  });

  it('a Retry-After that cannot be read counts as absent', async () => {
    const get = (name: string) => {
      if (name === 'retry-after') throw new Error('not serialized');
      return null;
    };
    const arrayBuffer = async () => new ArrayBuffer(0);
    const client = createTestClient(
      async () => ({ status: 503, headers: { get }, body: null, arrayBuffer }),
      { retries: 1, retryDelayMs: 0 },
    );
    const error = await errorOf(client);
    expect(error).toMatchObject({ status: 503, attempts: 2 });
    expect(error).not.toHaveProperty('retryAfterMs');
  });
});

describe('hooks', () => {
  const misbehaving: readonly (readonly [string, () => unknown])[] = [
    ['throws', () => JSON.parse('{') as unknown],
    ['rejects', rejecting('no')],
    ['never settles', never],
    ['is not a function', untyped('no function')],
    ['throws at each use', untyped(hostile)],
  ];

  it.each(misbehaving)('a hook that %s does not change the result of the call', async (_, hook) => {
    let calls = 0;
    const fetch = async () => new Response('{"name":"a"}', { status: calls++ === 0 ? 503 : 200 });
    const client = createTestClient(fetch, { retries: 1, onRetry: hook, retryDelayMs: 0 });
    const created = await client.createPlant(plant, { onSettled: hook });
    expect(created._unsafeUnwrap()).toEqual({ name: 'a' });
  });

  it('the hooks receive the attempts, the wait and the error before a retry, and the attempts at the end', async () => {
    const retries: Retry[] = [];
    const { baseUrl } = await failing(respondWith(429, '{"error":3503,"message":"busy"}'));
    useShare(1);
    const onRetry = (retry: Retry) => retries.push(retry);
    expect(await attemptsOf({ baseUrl, onRetry, retryDelayMs: 1 })).toEqual([true, 2]);
    const refused = { kind: 'refused', name: 'unavailable', error: 3503, message: 'busy' };
    const error = { ...refused, status: 429, attempts: 1 };
    expect(retries).toEqual([{ attempts: 1, waitMs: 1, error }]);
    expect(await attemptsOf({ baseUrl: 'nowhere' })).toEqual([false, 0]);
  });
});
