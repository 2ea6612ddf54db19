import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
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
import { type ClientOptions, createClient, type CreatePlantOptions } from './index.ts';

type TokenFunction = Extract<ClientOptions['token'], (...args: never[]) => unknown>;

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

/**
 * Creates a client whose service accepts one token, and holds the 401 of each other one until it is released. `refreshes` has
 * the argument of each call of the token function, `sent` the token of each request.
 */
const createHoldingClient = (
  getToken: TokenFunction,
  options: Partial<ClientOptions> = {},
  accepted = 'new',
) => {
  const held: { used: string | undefined; reject: () => void }[] = [];
  const sent: (string | undefined)[] = [];
  const refreshes: boolean[] = [];
  const client = createTestClient(
    async (_url, { headers }) => {
      const used = headers['authorization']?.replace('Bearer ', '');
      sent.push(used);
      if (used === accepted) return new Response('{"name":"a"}');
      await new Promise<void>((reject) => void held.push({ used, reject }));
      return new Response('', { status: 401 });
    },
    {
      token: (request) => {
        refreshes.push(request.refresh);
        return getToken(request);
      },
      ...options,
    },
  );
  /** Starts a call; its outcome is an error, or `undefined` for a plant. */
  const create = async (callOptions?: CreatePlantOptions) => {
    const outcome = client.createPlant(plant, callOptions).match(
      () => undefined,
      (error) => error,
    );
    await settle();
    return { outcome };
  };
  /** Sends the first 401 for a token that is held. */
  const release = async (rejected: string) => {
    const index = held.findIndex(({ used }) => used === rejected);
    held.splice(index, 1)[0]?.reject();
    await settle();
  };
  return { create, release, held, sent, refreshes };
};

/** A token function that returns an old token, and another one for a refresh. */
const refreshing =
  (refreshed: () => string | Promise<string>): TokenFunction =>
  ({ refresh }) =>
    refresh ? refreshed() : 'old';

const tokenRule = 'token must be an RFC 6750 b64token, without "Bearer " or white space';

describe('token function', () => {
  it('a token function is called once for calls that wait at the same time, and again for a later call', async () => {
    const first = Promise.withResolvers<string>();
    const { create, sent, refreshes } = createHoldingClient(() => first.promise);
    const calls = await Promise.all(Array.from({ length: 20 }, async () => create()));
    first.resolve('new');
    for (const { outcome } of calls) expect(await outcome).toBeUndefined();
    expect(refreshes).toEqual([false]);
    expect(await (await create()).outcome).toBeUndefined();
    expect(refreshes).toEqual([false, false]);
    expect(sent).toHaveLength(21);
  });

  it('a token function is called once by a call that is retried for other reasons than a 401', async () => {
    const statuses = [401, 503, 408];
    const refreshes: boolean[] = [];
    const fetch = async () => {
      const status = statuses.shift();
      return status === undefined ? new Response('{"name":"a"}') : new Response('', { status });
    };
    const getToken: TokenFunction = ({ refresh }) => {
      refreshes.push(refresh);
      return token;
    };
    const client = createTestClient(fetch, { token: getToken, retries: 2, retryDelayMs: 0 });
    expect((await client.createPlant(plant)).isOk()).toBe(true);
    expect(refreshes).toEqual([false, true]);
  });

  const secret = 'top secret, not a b64token';
  const threw = 'the token function threw';
  it.each<[string, () => unknown, string]>([
    ['throws', () => JSON.parse(`{${secret}`) as string, threw],
    ['rejects with an error', () => Promise.reject(new Error(secret)), threw],
    ['rejects with a string', () => Promise.reject(untyped(secret)), threw],
    ['resolves to a value whose members throw', async () => hostile, threw],
    ['returns a text that is not a token', () => secret, tokenRule],
    ['returns an object with the token as its text', () => ({ toString: () => secret }), tokenRule],
  ])('a token function that %s results in token-failed, without its error', async (...row) => {
    const [, getToken, message] = row;
    const fetch = () => Promise.reject(new Error('was called'));
    const error = await errorOf(createTestClient(fetch, { token: untyped(getToken) }));
    expect(error).toMatchObject({ kind: 'token-failed', message, attempts: 0 });
    expect(inspect(error, { depth: null }) + JSON.stringify(error)).not.toContain('secret');
  });

  it.each<[string, (options: CreatePlantOptions) => CreatePlantOptions]>([
    ['timed out', (options) => ({ ...options, timeoutMs: 20 })],
    ['was aborted', (options) => ({ ...options, signal: AbortSignal.timeout(20) })],
  ])(
    'a token function that never settles is called again by a call that starts after one that waited for it %s',
    async (_, optionsOf) => {
      const tokens = [never(), 'new'];
      const { create, refreshes } = createHoldingClient(() => untyped(tokens.shift()));
      const { outcome } = await create(optionsOf({ timeoutMs: 60_000 }));
      expect(await outcome).toMatchObject({ attempts: 0 });
      expect(await (await create()).outcome).toBeUndefined();
      expect(refreshes).toEqual([false, false]);
    },
  );

  it('a token function that never settles results in a timeout in its phase', async () => {
    const client = createTestClient(never, { token: untyped(never), timeoutMs: 20 });
    expect(await errorOf(client)).toEqual({
      kind: 'timeout',
      message: 'no token within 20 ms',
      phase: 'token',
      attempts: 0,
    });
  });

  it('a token function that takes longer than timeoutMs is called again for a call that still waits for it', async () => {
    const tokens = [never(), 'new'];
    const { create, refreshes } = createHoldingClient(() => untyped(tokens.shift()), {
      timeoutMs: 50,
    });
    const controller = new AbortController();
    const aborted = await create({ signal: controller.signal, timeoutMs: 60_000 });
    controller.abort();
    expect(await aborted.outcome).toMatchObject({ kind: 'aborted', attempts: 0 });
    const before = timers();
    expect(await (await create({ timeoutMs: 60_000 })).outcome).toBeUndefined();
    expect(refreshes).toEqual([false, false]);
    expect(timers()).toBeLessThanOrEqual(before);
  });

  it('a token function is not called twice at the same time after the abort of a call that has its token', async () => {
    const slow = Promise.withResolvers<string>();
    const tokens = ['old', slow.promise];
    const { create, refreshes } = createHoldingClient(() => tokens.shift() ?? 'new');
    const controller = new AbortController();
    const first = await create({ signal: controller.signal });
    const second = await create();
    controller.abort();
    expect(await first.outcome).toMatchObject({ kind: 'aborted' });
    const third = await create();
    slow.resolve('new');
    for (const { outcome } of [second, third]) expect(await outcome).toBeUndefined();
    expect(refreshes).toEqual([false, false]);
  });

  it('a token function that calls its own client results in a timeout', async () => {
    const client = createTestClient(never, {
      token: async () => ((await client.createPlant(plant)).isOk() ? token : ''),
      timeoutMs: 50,
    });
    expect(await errorOf(client)).toMatchObject({ kind: 'timeout', attempts: 0 });
  });
});

describe('rejected token', () => {
  it('a rejected token that is a string is returned as an error', async () => {
    const { baseUrl, received } = await startTokenServer('another');
    const error = await errorOf(createClient({ baseUrl, token }));
    expect(error).toMatchObject({ kind: 'refused', name: 'token-rejected', attempts: 1 });
    expect(received).toEqual([token]);
  });

  it.each([
    ['another', { kind: 'refused', name: 'token-rejected', status: 401, attempts: 2 }],
    ['new', undefined],
  ])('a rejected token is replaced once: the service accepts "%s"', async (accepted, expected) => {
    const { baseUrl, received } = await startTokenServer(accepted);
    const client = createClient({ baseUrl, token: refreshing(() => 'new'), retries: 0 });
    const error = await errorOf(client);
    if (expected === undefined) expect(error).toBeUndefined();
    else expect(error).toMatchObject(expected);
    expect(received).toEqual(['old', 'new']);
  });

  it.each([
    ['one after another', 1],
    ['at the same time', 100],
  ])(
    'a rejected token is refreshed once for 100 calls whose 401s arrive %s',
    async (_, atATime) => {
      // Each refresh revokes the token before it.
      let count = 0;
      const getToken = refreshing(async () => (++count === 1 ? 'new' : 'revoked'));
      const { create, held, refreshes } = createHoldingClient(getToken, { timeoutMs: 100_000 });
      const calls = await Promise.all(Array.from({ length: 100 }, async () => create()));
      while (held.length > 0) {
        for (const { reject } of held.splice(0, atATime)) reject();
        await settle();
      }
      for (const { outcome } of calls) expect(await outcome).toBeUndefined();
      expect(refreshes.filter((refresh) => refresh)).toEqual([true]);
    },
  );

  it.each([
    ['fails', '', { kind: 'token-failed', status: 401, attempts: 1 }],
    ['returns the rejected token again', 'old', { status: 401, attempts: 2 }],
  ])(
    'a rejected token whose refresh %s is refreshed again after one second',
    async (_, refreshed, expected) => {
      vi.useFakeTimers({ toFake: ['performance'] });
      onTestFinished(() => void vi.useRealTimers());
      let current = refreshed;
      const getToken = refreshing(() => current);
      const { create, held, refreshes } = createHoldingClient(getToken, { timeoutMs: 100_000 });
      /** Returns the error of a call whose 401s are not held. */
      const errorOfCall = async () => {
        const { outcome } = await create();
        while (held.length > 0) {
          held.shift()?.reject();
          await settle();
        }
        return outcome;
      };
      expect(await errorOfCall()).toMatchObject(expected);
      vi.advanceTimersByTime(999);
      expect(await errorOfCall()).toMatchObject(expected);
      expect(refreshes).toEqual([false, true, false]);
      vi.advanceTimersByTime(1);
      current = 'new';
      expect(await errorOfCall()).toBeUndefined();
      expect(refreshes).toEqual([false, true, false, false, true]);
    },
  );

  it('a rejected token is replaced by a token that another call received without a refresh', async () => {
    const tokens = ['old', 'new'];
    const { create, release, sent, refreshes } = createHoldingClient(() => tokens.shift()!);
    const first = await create();
    expect(await (await create()).outcome).toBeUndefined();
    await release('old');
    expect(await first.outcome).toBeUndefined();
    expect(sent).toEqual(['old', 'new', 'new']);
    expect(refreshes).toEqual([false, false]);
  });

  it('a rejected token that the function returns later does not replace the refreshed one', async () => {
    const late = Promise.withResolvers<string>();
    const { create, release, sent, refreshes } = createHoldingClient(({ refresh }) => {
      if (refresh) return 'new';
      return refreshes.length === 1 ? 'old' : late.promise;
    });
    const first = await create();
    const second = await create();
    await release('old');
    expect(await first.outcome).toBeUndefined();
    late.resolve('old');
    await settle();
    await release('old');
    expect(await second.outcome).toBeUndefined();
    expect(sent).toEqual(['old', 'new', 'old', 'new']);
    expect(refreshes).toEqual([false, false, true]);
  });

  it('a rejected token is not replaced by a later token whose refresh is pending, which serves new calls, too', async () => {
    const refreshed = Promise.withResolvers<string>();
    const tokens = ['first', 'second'];
    const { create, release, sent, refreshes } = createHoldingClient(({ refresh }) =>
      refresh ? refreshed.promise : tokens.shift()!,
    );
    const calls = [await create(), await create()];
    await release('second');
    await release('first');
    calls.push(await create());
    refreshed.resolve('new');
    for (const { outcome } of calls) expect(await outcome).toBeUndefined();
    expect(sent).toEqual(['first', 'second', 'new', 'new', 'new']);
    expect(refreshes).toEqual([false, false, true]);
  });

  it.each([
    ['an abort', 'aborted', 60_000],
    ['a timeout', 'timeout', 100],
  ] as const)(
    'a rejected token is not refreshed again after %s of the call that waits for its refresh',
    async (_, kind, timeoutMs) => {
      const refreshed = Promise.withResolvers<string>();
      const { create, release, sent, refreshes } = createHoldingClient(
        refreshing(() => refreshed.promise),
      );
      const controller = new AbortController();
      const first = await create({ signal: controller.signal, timeoutMs });
      const second = await create();
      await release('old');
      if (kind === 'aborted') controller.abort();
      expect(await first.outcome).toMatchObject({ kind, status: 401, attempts: 1 });
      await release('old');
      const third = await create();
      refreshed.resolve('new');
      expect(await second.outcome).toBeUndefined();
      expect(await third.outcome).toBeUndefined();
      expect(sent).toEqual(['old', 'old', 'new', 'new']);
      expect(refreshes).toEqual([false, false, true]);
    },
  );

  it('a rejected token whose refresh failed is replaced by a token that another call received since', async () => {
    const tokens = ['old', 'old', 'new'];
    const { create, release, sent, refreshes } = createHoldingClient(({ refresh }) =>
      refresh ? '' : tokens.shift()!,
    );
    const first = await create();
    const second = await create();
    await release('old');
    expect(await first.outcome).toMatchObject({ kind: 'token-failed', attempts: 1 });
    expect(await (await create()).outcome).toBeUndefined();
    await release('old');
    expect(await second.outcome).toBeUndefined();
    expect(sent).toEqual(['old', 'old', 'new', 'new']);
    expect(refreshes).toEqual([false, false, true, false]);
  });

  it('a rejected token whose refresh takes longer than timeoutMs is refreshed again, and the late one is ignored', async () => {
    const slow = Promise.withResolvers<string>();
    const refreshed = [slow.promise, 'new'];
    const { create, release, sent, refreshes } = createHoldingClient(
      refreshing(() => refreshed.shift()!),
      { timeoutMs: 50 },
    );
    const limits = { timeoutMs: 60_000 };
    const calls = [await create(limits), await create(limits), await create(limits)];
    await release('old');
    await release('old');
    for (const { outcome } of calls.slice(0, 2)) expect(await outcome).toBeUndefined();
    slow.resolve('revoked');
    await settle();
    await release('old');
    expect(await calls[2]?.outcome).toBeUndefined();
    expect(sent).toEqual(['old', 'old', 'old', 'new', 'new', 'new']);
    expect(refreshes).toEqual([false, false, false, true, true]);
  });

  it('a rejected token is refreshed if the function returned it after the refresh of another token', async () => {
    const tokens = { false: ['first', 'another'], true: ['second', 'new'] };
    const { create, release, sent, refreshes } = createHoldingClient(({ refresh }) =>
      tokens[`${refresh}`].shift()!,
    );
    const first = await create();
    await release('first');
    await release('second');
    expect(await first.outcome).toMatchObject({ status: 401, attempts: 2 });
    const later = await create();
    await release('another');
    expect(await later.outcome).toBeUndefined();
    expect(sent).toEqual(['first', 'second', 'another', 'new']);
    expect(refreshes).toEqual([false, true, false, true]);
  });
});
