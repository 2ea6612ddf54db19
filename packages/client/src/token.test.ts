import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  createTestClient,
  errorOf,
  hostile,
  never,
  plant,
  settle,
  timers,
  token,
  untyped,
} from '../test/fixtures.ts';
import { startServer } from '../test/start-server.ts';
import { type ClientOptions, createClient, type TokenRequest } from './index.ts';

/** Starts a server that accepts a single token; `received` has the tokens of its requests. */
const startTokenServer = async (accepted: string) => {
  const received: (string | undefined)[] = [];
  const baseUrl = await startServer((request, response) => {
    const { authorization } = request.headers;
    received.push(authorization?.replace('Bearer ', ''));
    const isAccepted = authorization === `Bearer ${accepted}`;
    response.writeHead(isAccepted ? 200 : 401);
    response.end(isAccepted ? '{"name":"a"}' : '{"error":2402,"message":"no"}');
    request.resume();
  });
  return { baseUrl, received };
};

const tokenRule = 'token must be an RFC 6750 b64token, without "Bearer " or white space';
const ok = { value: { name: 'a' } };

describe('token function', () => {
  it.each([
    ['sync', () => token],
    ['async', async () => token],
  ])('a client sends the token that the %s token function returns', async (_, getToken) => {
    const { baseUrl, received } = await startTokenServer(token);
    const client = createClient({ baseUrl, token: getToken });
    expect(await client.createPlant(plant)).toMatchObject(ok);
    expect(received).toEqual([token]);
  });

  it('a token function is called once for calls that wait at the same time, and again for a later call', async () => {
    const { baseUrl } = await startTokenServer(token);
    const tokenCalls: TokenRequest[] = [];
    const tokenPromise = Promise.withResolvers<string>();
    const getToken = (request: TokenRequest) => {
      tokenCalls.push(request);
      return tokenPromise.promise;
    };
    const client = createClient({ baseUrl, token: getToken });
    const calls = Array.from({ length: 20 }, async () => client.createPlant(plant));
    tokenPromise.resolve(token);
    for (const call of calls) expect(await call).toMatchObject(ok);
    expect(tokenCalls).toEqual([{ refresh: false }]);
    await client.createPlant(plant);
    expect(tokenCalls).toHaveLength(2);
  });

  it('a token function is called again after a 401, and the request is sent with the new token', async () => {
    const { baseUrl, received } = await startTokenServer('new');
    const getToken = ({ refresh }: TokenRequest) => (refresh ? 'new' : 'old');
    const attempts: unknown[] = [];
    const created = await createClient({ baseUrl, token: getToken, retries: 0 }).createPlant(
      plant,
      {
        onSettled: (settled) => attempts.push(settled),
      },
    );
    expect(created).toMatchObject(ok);
    expect(received).toEqual(['old', 'new']);
    expect(attempts).toEqual([{ attempts: 2, status: 200 }]);
  });

  it('a token function is called once for a new token by calls that received a 401 at the same time', async () => {
    const tokenCalls: boolean[] = [];
    const calls = 10;
    let refused = 0;
    const all = Promise.withResolvers<undefined>();
    const client = createTestClient(
      async (_url, init) => {
        if (JSON.stringify(init.headers).includes('new')) return new Response('{"name":"a"}');
        if (++refused === calls) all.resolve(undefined);
        await all.promise;
        return new Response('', { status: 401 });
      },
      {
        token: async ({ refresh }) => {
          tokenCalls.push(refresh);
          return refresh ? 'new' : 'old';
        },
      },
    );
    const created = Array.from({ length: calls }, async () => client.createPlant(plant));
    for (const call of created) expect(await call).toMatchObject(ok);
    expect(tokenCalls).toEqual([false, true]);
  });

  it('a token function is not called by a call that starts while another waits for a new token', async () => {
    const { baseUrl, received } = await startTokenServer('new');
    const tokenCalls: boolean[] = [];
    const refreshing = Promise.withResolvers<void>();
    const newToken = Promise.withResolvers<string>();
    const getToken = ({ refresh }: TokenRequest) => {
      tokenCalls.push(refresh);
      if (!refresh) return 'old';
      refreshing.resolve();
      return newToken.promise;
    };
    const client = createClient({ baseUrl, token: getToken });
    const first = client.createPlant(plant);
    await refreshing.promise;
    const second = client.createPlant(plant);
    newToken.resolve('new');
    expect(await first).toMatchObject(ok);
    expect(await second).toMatchObject(ok);
    expect(tokenCalls).toEqual([false, true]);
    expect(received).toEqual(['old', 'new', 'new']);
  });

  it('a token function is called with refresh while another call waits for any token, and serves later calls', async () => {
    const tokenCalls: boolean[] = [];
    const anyToken = Promise.withResolvers<string>();
    const newToken = Promise.withResolvers<string>();
    const refused = Promise.withResolvers<Response>();
    const getToken = ({ refresh }: TokenRequest) => {
      tokenCalls.push(refresh);
      if (refresh) return newToken.promise;
      return tokenCalls.length === 1 ? 'old' : anyToken.promise;
    };
    const client = createTestClient(
      async (_url, init) =>
        JSON.stringify(init.headers).includes('old')
          ? refused.promise
          : new Response('{"name":"a"}'),
      { token: getToken },
    );
    const first = client.createPlant(plant);
    await settle();
    const second = client.createPlant(plant);
    await settle();
    refused.resolve(new Response('', { status: 401 }));
    await settle();
    expect(tokenCalls).toEqual([false, false, true]);
    anyToken.resolve('another');
    expect(await second).toMatchObject(ok);
    const third = client.createPlant(plant);
    await settle();
    expect(tokenCalls).toEqual([false, false, true]);
    newToken.resolve('new');
    expect(await first).toMatchObject(ok);
    expect(await third).toMatchObject(ok);
  });

  it('a token function is called once by a call that is retried for other reasons than a 401', async () => {
    const tokenCalls: boolean[] = [];
    const failures = [
      () => Promise.reject(new TypeError('reset')),
      async () => new Response('', { status: 503 }),
    ];
    const fetch = async () => failures.shift()?.() ?? new Response('{"name":"a"}');
    const getToken = ({ refresh }: TokenRequest) => {
      tokenCalls.push(refresh);
      return token;
    };
    const client = createTestClient(fetch, { token: getToken, retries: 2, retryDelayMs: 0 });
    expect(await client.createPlant(plant)).toMatchObject(ok);
    expect(tokenCalls).toEqual([false]);
  });

  it('a call that sends a new token after a 401 can still be retried as often as without it', async () => {
    const statuses = [401, 503, 503];
    const fetch = async () => {
      const status = statuses.shift();
      return status === undefined ? new Response('{"name":"a"}') : new Response('', { status });
    };
    const client = createTestClient(fetch, { token: () => token, retries: 2, retryDelayMs: 0 });
    expect(await client.createPlant(plant)).toMatchObject(ok);
  });

  it('a token function is not called a third time after a second 401', async () => {
    const { baseUrl, received } = await startTokenServer('another');
    const error = await errorOf(createClient({ baseUrl, token: () => 'wrong' }));
    expect(error).toMatchObject({ kind: 'refused', name: 'token-rejected', attempts: 2 });
    expect(received).toEqual(['wrong', 'wrong']);
  });

  it('a token function that fails after a 401 results in an error with the number of attempts', async () => {
    const { baseUrl } = await startTokenServer('another');
    const getToken = ({ refresh }: TokenRequest) => (refresh ? untyped(undefined) : 'old');
    expect(await errorOf(createClient({ baseUrl, token: getToken }))).toEqual({
      kind: 'token-failed',
      message: expect.any(String) as unknown,
      attempts: 1,
      status: 401,
    });
  });

  const secret = 'top secret, not a b64token';
  it.each([
    ['throws', () => JSON.parse(`{${secret}`) as string, 'the token function threw an error'],
    [
      'rejects with an error',
      () => Promise.reject(new Error(secret)),
      'the token function threw an error',
    ],
    [
      'rejects with a string',
      () => Promise.reject(untyped(secret)),
      'the token function threw an error',
    ],
    [
      'resolves to a value whose members throw',
      async () => untyped(hostile),
      'the token function threw an error',
    ],
    ['returns a text that is not a token', () => secret, tokenRule],
    [
      'returns an object with the token as its text',
      () => untyped({ toString: () => secret }),
      tokenRule,
    ],
  ])('a token function that %s results in token-failed, without its error', async (...row) => {
    const [, getToken, message] = row;
    const fetch = () => Promise.reject(new Error('was called'));
    const error = await errorOf(createTestClient(fetch, { token: getToken }));
    expect(error).toMatchObject({ kind: 'token-failed', message, attempts: 0 });
    expect(inspect(error, { depth: null }) + JSON.stringify(error)).not.toContain('secret');
  });

  it('a token function that never settles results in a timeout, and the next call calls it again', async () => {
    let tokenCalls = 0;
    const getToken = () => (++tokenCalls === 1 ? untyped(never()) : token);
    const fetch = async () => new Response('{"name":"a"}');
    const client = createTestClient(fetch, { token: getToken, timeoutMs: 50 });
    expect(await errorOf(client)).toEqual({
      kind: 'timeout',
      message: expect.stringContaining('no token') as unknown,
      phase: 'token',
      attempts: 0,
    });
    expect(await client.createPlant(plant)).toMatchObject(ok);
  });

  it('a token function that never settles is called again after timeoutMs, also for a call that waits for it', async () => {
    const tokenCalls: boolean[] = [];
    const getToken = ({ refresh }: TokenRequest) =>
      tokenCalls.push(refresh) === 1 ? untyped(never()) : token;
    const client = createTestClient(async () => new Response('{"name":"a"}'), {
      token: getToken,
      timeoutMs: 50,
    });
    const controller = new AbortController();
    const { signal } = controller;
    const ended = client.createPlant(plant, { signal, timeoutMs: 60_000 });
    await settle();
    controller.abort();
    expect((await ended)._unsafeUnwrapErr()).toMatchObject({ kind: 'aborted', attempts: 0 });
    const before = timers();
    const later = client.createPlant(plant, { timeoutMs: 60_000 });
    expect(await later).toMatchObject(ok);
    expect(tokenCalls).toEqual([false, false]);
    expect(timers()).toBeLessThanOrEqual(before);
  });

  it.each([
    ['timed out', () => ({ timeoutMs: 20 })],
    ['was aborted', () => ({ signal: AbortSignal.timeout(20) })],
  ])(
    'a token function is called again by a call that starts after one that waited for it %s',
    async (_, optionsOf) => {
      let tokenCalls = 0;
      const getToken = () => (++tokenCalls === 1 ? untyped(never()) : token);
      const client = createTestClient(async () => new Response('{"name":"a"}'), {
        token: getToken,
        timeoutMs: 60_000,
      });
      expect((await client.createPlant(plant, optionsOf())).isErr()).toBe(true);
      expect(await client.createPlant(plant)).toMatchObject(ok);
      expect(tokenCalls).toBe(2);
    },
  );

  it('a token function is not called twice at the same time after the abort of a call that has its token', async () => {
    let tokenCalls = 0;
    const slow = Promise.withResolvers<string>();
    const getToken = () => (++tokenCalls === 1 ? token : slow.promise);
    const controller = new AbortController();
    const sent = Promise.withResolvers<undefined>();
    const client = createTestClient(
      () => {
        sent.resolve(undefined);
        return tokenCalls === 1 ? never() : Promise.resolve(new Response('{"name":"a"}'));
      },
      { token: getToken },
    );
    const first = errorOf(client, controller.signal);
    await sent.promise;
    const second = client.createPlant(plant);
    await new Promise(setImmediate);
    controller.abort();
    await first;
    const third = client.createPlant(plant);
    await new Promise(setImmediate);
    slow.resolve(token);
    for (const call of [second, third]) expect(await call).toMatchObject(ok);
    expect(tokenCalls).toBe(2);
  });

  it('a token function that calls its own client results in a timeout', async () => {
    const options: Partial<ClientOptions> = {
      token: async () => ((await client.createPlant(plant)).isOk() ? token : ''),
      timeoutMs: 50,
    };
    const client = createTestClient(never, options);
    expect(await errorOf(client)).toMatchObject({ kind: 'timeout', attempts: 0 });
  });
});

it.each(['', 'Bearer abc', 'abc\n', 'a b', 7])(
  'the message for the token %j names the rule',
  async (wrong) => {
    for (const value of [untyped(wrong), () => untyped(wrong)]) {
      const error = await errorOf(createTestClient(never, { token: value }));
      expect(error).toMatchObject({ kind: 'token-failed', message: tokenRule });
    }
  },
);

it('a 401 for a token that is a string is returned as an error', async () => {
  const { baseUrl, received } = await startTokenServer('another');
  const error = await errorOf(createClient({ baseUrl, token }));
  expect(error).toMatchObject({ kind: 'refused', name: 'token-rejected', attempts: 1 });
  expect(received).toEqual([token]);
});

it.each([
  ['first-secret', 'first-secret-renewed'],
  ['first-secret', 'another-one'],
])('both tokens of a call are redacted in its error: %s and %s', async (...tokens) => {
  const client = createTestClient(
    async () => new Response(`Bearer ${tokens.join(' and ')}`, { status: 401 }),
    { token: ({ refresh }) => tokens[refresh ? 1 : 0] ?? '' },
  );
  expect(await errorOf(client)).toMatchObject({ attempts: 2, body: 'Bearer *** and ***' });
});
