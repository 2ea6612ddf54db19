import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { clientWith, errorOf, hostile, never, plant, token, untyped } from '../test/fixtures.ts';
import { serve } from '../test/serve.ts';
import { type ClientOptions, createClient, type TokenRequest } from './index.ts';

/** A server that takes one token only, and the tokens that it was shown. */
const guarded = async (accepted: string) => {
  const shown: (string | undefined)[] = [];
  const baseUrl = await serve((request, response) => {
    const { authorization } = request.headers;
    shown.push(authorization?.replace('Bearer ', ''));
    const right = authorization === `Bearer ${accepted}`;
    response.writeHead(right ? 200 : 401);
    response.end(right ? '{"name":"a"}' : '{"error":2402,"message":"no"}');
    request.resume();
  });
  return { baseUrl, shown };
};

const ok = { value: { name: 'a' } };

describe('a token function', () => {
  it.each([() => token, async () => token])('gives the token (number %#)', async (give) => {
    const { baseUrl, shown } = await guarded(token);
    const client = createClient({ baseUrl, token: give });
    expect(await client.createPlant(plant)).toMatchObject(ok);
    expect(shown).toEqual([token]);
  });

  it('is asked once by calls that wait at a time, and again by a later one', async () => {
    const { baseUrl } = await guarded(token);
    const asked: TokenRequest[] = [];
    const given = Promise.withResolvers<string>();
    const give = (request: TokenRequest) => {
      asked.push(request);
      return given.promise;
    };
    const client = createClient({ baseUrl, token: give });
    const calls = Array.from({ length: 20 }, async () => client.createPlant(plant));
    given.resolve(token);
    for (const call of calls) expect(await call).toMatchObject(ok);
    expect(asked).toEqual([{ refresh: false }]);
    await client.createPlant(plant);
    expect(asked).toHaveLength(2);
  });

  it('is asked once more after a 401, and the request is sent with the new token', async () => {
    const { baseUrl, shown } = await guarded('new');
    const give = ({ refresh }: TokenRequest) => (refresh ? 'new' : 'old');
    const attempts: unknown[] = [];
    const created = await createClient({ baseUrl, token: give, retries: 0 }).createPlant(plant, {
      onSettled: (settled) => attempts.push(settled),
    });
    expect(created).toMatchObject(ok);
    expect(shown).toEqual(['old', 'new']);
    expect(attempts).toEqual([{ attempts: 2, status: 200 }]);
  });

  it('is asked for the new token once by calls that were refused at a time', async () => {
    const asked: boolean[] = [];
    const calls = 10;
    let refused = 0;
    const all = Promise.withResolvers<undefined>();
    const client = clientWith(
      async (_url, init) => {
        if (JSON.stringify(init.headers).includes('new')) return new Response('{"name":"a"}');
        if (++refused === calls) all.resolve(undefined);
        await all.promise;
        return new Response('', { status: 401 });
      },
      {
        token: async ({ refresh }) => {
          asked.push(refresh);
          return refresh ? 'new' : 'old';
        },
      },
    );
    const created = Array.from({ length: calls }, async () => client.createPlant(plant));
    for (const call of created) expect(await call).toMatchObject(ok);
    expect(asked).toEqual([false, true]);
  });

  it('is not asked by a call that starts while another waits for a new token', async () => {
    const { baseUrl, shown } = await guarded('new');
    const asked: boolean[] = [];
    const refreshing = Promise.withResolvers<void>();
    const renewed = Promise.withResolvers<string>();
    const give = ({ refresh }: TokenRequest) => {
      asked.push(refresh);
      if (!refresh) return 'old';
      refreshing.resolve();
      return renewed.promise;
    };
    const client = createClient({ baseUrl, token: give });
    const first = client.createPlant(plant);
    await refreshing.promise;
    const second = client.createPlant(plant);
    renewed.resolve('new');
    expect(await first).toMatchObject(ok);
    expect(await second).toMatchObject(ok);
    expect(asked).toEqual([false, true]);
    expect(shown).toEqual(['old', 'new', 'new']);
  });

  it('is asked no third time: a second 401 is an error', async () => {
    const { baseUrl, shown } = await guarded('another');
    const error = await errorOf(createClient({ baseUrl, token: () => 'wrong' }));
    expect(error).toMatchObject({ kind: 'refused', name: 'token-rejected', attempts: 2 });
    expect(shown).toEqual(['wrong', 'wrong']);
  });

  it('which fails after a 401 is an error that tells of the request', async () => {
    const { baseUrl } = await guarded('another');
    const give = ({ refresh }: TokenRequest) => (refresh ? untyped(undefined) : 'old');
    expect(await errorOf(createClient({ baseUrl, token: give }))).toEqual({
      kind: 'token-failed',
      message: 'token must be an RFC 6750 b64token, or a function that returns one',
      attempts: 1,
    });
  });

  const secret = 'top secret, not a b64token';
  it.each([
    () => JSON.parse(`{${secret}`) as string,
    () => Promise.reject(new Error(secret)),
    // A rejection with no error.
    () => Promise.reject(untyped(secret)),
    () => secret,
    () => '',
    async () => untyped(hostile),
    () => untyped({ toString: () => secret }),
  ])('that fails is an error of its own, which repeats nothing (number %#)', async (give) => {
    const fetch = () => Promise.reject(new Error('was called'));
    const error = await errorOf(clientWith(fetch, { token: give }));
    expect(error).toMatchObject({ kind: 'token-failed', attempts: 0 });
    expect(inspect(error, { depth: null }) + JSON.stringify(error)).not.toContain('secret');
  });

  it('that never answers is a timeout, and the next call asks anew', async () => {
    let asked = 0;
    const give = () => (++asked === 1 ? untyped(never()) : token);
    const fetch = async () => new Response('{"name":"a"}');
    const client = clientWith(fetch, { token: give, timeoutMs: 50 });
    expect(await errorOf(client)).toEqual({
      kind: 'timeout',
      message: 'no token within 50 ms',
      phase: 'token',
      attempts: 0,
    });
    expect(await client.createPlant(plant)).toMatchObject(ok);
  });

  it('that never answers a call which its caller ends is asked anew by the next', async () => {
    let asked = 0;
    const give = () => (++asked === 1 ? untyped(never()) : token);
    const client = clientWith(async () => new Response('{"name":"a"}'), { token: give });
    const controller = new AbortController();
    const ended = errorOf(client, controller.signal);
    const other = new AbortController();
    const waiting = errorOf(client, other.signal);
    controller.abort();
    expect(await ended).toMatchObject({ kind: 'aborted', attempts: 0 });
    expect(await client.createPlant(plant)).toMatchObject(ok);
    other.abort();
    expect(await waiting).toMatchObject({ kind: 'aborted', attempts: 0 });
    expect(asked).toBe(2);
  });

  it('is not asked twice at a time because a call that has its token runs out of time', async () => {
    let asked = 0;
    const slow = Promise.withResolvers<string>();
    const give = () => (++asked === 1 ? token : slow.promise);
    const controller = new AbortController();
    const sent = Promise.withResolvers<undefined>();
    const client = clientWith(
      () => {
        sent.resolve(undefined);
        return asked === 1 ? never() : Promise.resolve(new Response('{"name":"a"}'));
      },
      { token: give },
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
    expect(asked).toBe(2);
  });

  it('that calls its own client waits for itself until the time is over', async () => {
    const options: Partial<ClientOptions> = {
      token: async () => ((await client.createPlant(plant)).isOk() ? token : ''),
      timeoutMs: 50,
    };
    const client = clientWith(never, options);
    expect(await errorOf(client)).toMatchObject({ kind: 'timeout', attempts: 0 });
  });
});

it('a text is not asked for anew: its first 401 is an error', async () => {
  const { baseUrl, shown } = await guarded('another');
  const error = await errorOf(createClient({ baseUrl, token }));
  expect(error).toMatchObject({ kind: 'refused', name: 'token-rejected', attempts: 1 });
  expect(shown).toEqual([token]);
});

it('neither of two tokens of a call shows in its error', async () => {
  const tokens = ['first-secret', 'first-secret-renewed'];
  const client = clientWith(
    async () => new Response(`Bearer ${tokens.join(' and ')}`, { status: 401 }),
    { token: ({ refresh }) => tokens[refresh ? 1 : 0] ?? '' },
  );
  expect(await errorOf(client)).toMatchObject({ attempts: 2, body: 'Bearer *** and ***' });
});
