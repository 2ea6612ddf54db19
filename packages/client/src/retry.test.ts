import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  baseUrl as anyUrl,
  respondWith,
  createTestClient,
  errorOf,
  hostile,
  never,
  plant,
  token,
  untyped,
} from '../test/fixtures.ts';
import { startServer } from '../test/start-server.ts';
import { defaultLimits } from './settings.ts';
import { type ClientOptions, createClient, type Retry } from './index.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const quick = { retryDelayMs: 1 };

/** Starts a server that handles its first requests with the given listeners, and then responds with 200. */
const failing = async (...failures: Parameters<typeof startServer>[0][]) => {
  const remaining = [...failures];
  const bodies: string[] = [];
  const baseUrl = await startServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      bodies.push(body);
      (remaining.shift() ?? respondWith(200, '{"name":"a"}'))(request, response);
    });
  });
  return { baseUrl, bodies };
};

const attemptsOf = async (options: ClientOptions) => {
  const settled: number[] = [];
  const created = await createClient(options).createPlant(plant, {
    onSettled: ({ attempts }) => settled.push(attempts),
  });
  return { created, settled };
};

describe('client retries', () => {
  it.each([408, 429, 502, 503, 504])(
    'a client retries after a response with status %i',
    async (status) => {
      const { baseUrl, bodies } = await failing(respondWith(status, 'soon'));
      const { created, settled } = await attemptsOf({ baseUrl, token, ...quick });
      expect(created).toMatchObject({ value: { name: 'a' } });
      expect(settled).toEqual([2]);
      expect(new Set(bodies).size).toBe(1);
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
    const { created, settled } = await attemptsOf({ baseUrl, token, ...quick });
    expect(created.isOk()).toBe(true);
    expect(settled).toEqual([3]);
  });

  it('a client retries after an attempt that timed out', async () => {
    let sent = 0;
    const fetch = async () => (++sent === 1 ? never() : new Response('{"name":"a"}'));
    const options = { baseUrl: anyUrl, token, fetch, attemptTimeoutMs: 50, ...quick };
    const { created, settled } = await attemptsOf(options);
    expect(created.isOk()).toBe(true);
    expect(settled).toEqual([2]);
  });

  it('a client makes as many retries as the option retries, or its default', async () => {
    const broken = () => Promise.reject(new Error('broken'));
    for (const [retries, attempts] of [
      [undefined, defaultLimits.retries + 1],
      [0, 1],
      [1, 2],
      [6, 7],
    ]) {
      const error = await errorOf(createTestClient(broken, { retries, ...quick }));
      expect(error).toMatchObject({ kind: 'network', attempts });
    }
  });
});

describe('a client does not retry', () => {
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
    const error = await errorOf(createClient({ baseUrl, token, ...quick }));
    expect(error).toMatchObject({ kind, attempts: 1 });
    expect(bodies).toHaveLength(1);
  });

  it.each([200, 404, 503])(
    'a client does not retry after a response with status %i whose body fetch has read or locked',
    async (status) => {
      for (const take of [
        async (response: Response) => response.text(),
        async (response: Response) => response.body?.getReader(),
        async (response: Response) => {
          const reader = response.body?.getReader();
          await reader?.read();
          reader?.releaseLock();
        },
      ]) {
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

describe('hooks', () => {
  const misbehaving = [
    ['throws', () => JSON.parse('{') as unknown],
    ['rejects', () => Promise.reject(new Error('no'))],
    ['never settles', () => never()],
    ['is not a function', untyped('no function')],
    ['throws at each use', untyped(hostile)],
  ] as const;

  it.each(misbehaving)('a hook that %s does not change the result of the call', async (_, hook) => {
    let calls = 0;
    const fetch = async () => new Response('{"name":"a"}', { status: calls++ === 0 ? 503 : 200 });
    const client = createTestClient(fetch, { retries: 1, onRetry: hook, ...quick });
    expect(await client.createPlant(plant, { onSettled: hook })).toMatchObject({
      value: { name: 'a' },
    });
  });

  it('the hooks receive the attempts, the wait and the error before a retry', async () => {
    const retries: unknown[] = [];
    const { baseUrl } = await failing(respondWith(429, '{"error":3503,"message":"busy"}'));
    const onRetry = (retry: Retry) => retries.push(retry);
    vi.spyOn(Math, 'random').mockReturnValue(1);
    await errorOf(createClient({ baseUrl, token, onRetry, ...quick }));
    const error = {
      kind: 'refused',
      name: 'unavailable',
      error: 3503,
      message: 'busy',
      status: 429,
    };
    expect(retries).toEqual([{ attempts: 1, waitMs: 1, error: { ...error, attempts: 1 } }]);
  });

  it('the hooks receive 0 attempts for a call that sent nothing', async () => {
    const { settled } = await attemptsOf({ baseUrl: 'nowhere', token });
    expect(settled).toEqual([0]);
  });
});
