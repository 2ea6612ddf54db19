import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  unendingBody,
  createTestClient,
  errorOf,
  isPrompt,
  never,
  plant,
  rejecting,
  timers,
  token,
} from '../test/fixtures.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('time limit of a call', () => {
  it('the time limit of a call ends an attempt, with the status of an incomplete response', async () => {
    const fetch = async () => new Response(unendingBody().body);
    expect(await errorOf(createTestClient(fetch, { timeoutMs: 50 }))).toEqual({
      kind: 'timeout',
      message: expect.stringContaining('incomplete response') as unknown,
      phase: 'response',
      status: 200,
      attempts: 1,
    });
  });

  it('a call whose time limit expires while the body of a 401 is read requests no new token', async () => {
    const { body } = unendingBody();
    const refreshes: boolean[] = [];
    const client = createTestClient(async () => new Response(body, { status: 401 }), {
      timeoutMs: 50,
      token: ({ refresh }) => {
        refreshes.push(refresh);
        return token;
      },
    });
    expect(await errorOf(client)).toMatchObject({ kind: 'timeout', status: 401 });
    await new Promise(setImmediate);
    expect(refreshes).toEqual([false]);
  });

  it.each([401, 503])(
    'a call whose timer ends before the clock says so ends, too, while the body of a %i is read',
    async (status) => {
      vi.spyOn(performance, 'now').mockReturnValue(0);
      const { body } = unendingBody();
      const calls: unknown[] = [];
      const client = createTestClient(async () => new Response(body, { status }), {
        timeoutMs: 50,
        retries: 3,
        retryDelayMs: 0,
        token: ({ refresh }) => {
          if (refresh) calls.push('refresh');
          return token;
        },
        onRetry: (retry) => calls.push(retry),
      });
      expect(await errorOf(client)).toMatchObject({ kind: 'timeout', status, attempts: 1 });
      expect(calls).toEqual([]);
    },
  );

  it('a call sends nothing after its time limit, and sets no timer with a negative delay', async () => {
    const warnings: string[] = [];
    const warn = ({ name }: Error) => void warnings.push(name);
    process.on('warning', warn);
    const blockThread = () => {
      const end = performance.now() + 20;
      while (performance.now() < end);
      return token;
    };
    const client = createTestClient(rejecting(new Error('was called')), {
      timeoutMs: 5,
      token: blockThread,
    });
    const expected = { kind: 'timeout', phase: 'response', attempts: 0 };
    expect(await errorOf(client)).toMatchObject(expected);
    await new Promise(setImmediate);
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  });

  it('the time limit of a call applies to all attempts together', async () => {
    const limits = { attemptTimeoutMs: 10, timeoutMs: 950, retryDelayMs: 0, retries: 1000 };
    const error = await errorOf(createTestClient(never, limits));
    expect(error?.kind).toBe('timeout');
    expect(error?.attempts).toBeGreaterThan(1);
    expect(error?.attempts).toBeLessThanOrEqual(95);
  });
});

/** Limits that no test reaches, as an abort must not wait for them. */
const slow = { attemptTimeoutMs: 60_000, timeoutMs: 60_000 };

describe('abort', () => {
  it('an abort ends the wait for a token, and no other call', async () => {
    const tokenPromise = Promise.withResolvers<string>();
    const fetch = async () => new Response('{"name":"a"}');
    const client = createTestClient(fetch, { token: () => tokenPromise.promise, ...slow });
    const controller = new AbortController();
    const aborted = errorOf(client, controller.signal);
    const other = client.createPlant(plant);
    await new Promise(setImmediate);
    controller.abort();
    expect(await isPrompt(aborted)).toBe(true);
    expect(await aborted).toMatchObject({ kind: 'aborted', attempts: 0 });
    tokenPromise.resolve(token);
    expect(await other).toMatchObject({ value: { name: 'a' } });
  });

  it('an abort ends the wait for the next attempt, which is not sent', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const controller = new AbortController();
    const waiting = Promise.withResolvers<unknown>();
    let sent = 0;
    const before = timers();
    const client = createTestClient(
      async () => {
        sent += 1;
        return new Response('', { status: 503 });
      },
      {
        ...slow,
        retries: 3,
        retryDelayMs: 30_000,
        maxRetryDelayMs: 30_000,
        onRetry: waiting.resolve,
      },
    );
    const creating = errorOf(client, controller.signal);
    await waiting.promise;
    controller.abort('enough');
    expect(await isPrompt(creating)).toBe(true);
    const error = await creating;
    expect(error).toEqual({
      kind: 'aborted',
      status: 503,
      message: expect.any(String) as unknown,
      cause: { name: 'string', message: 'enough' },
      attempts: 1,
    });
    expect(timers()).toBeLessThanOrEqual(before);
    expect(sent).toBe(1);
  });

  it('an abort during an attempt prevents onRetry', async () => {
    const controller = new AbortController();
    const retries: unknown[] = [];
    const client = createTestClient(never, { retries: 9, onRetry: (retry) => retries.push(retry) });
    const creating = errorOf(client, controller.signal);
    controller.abort();
    expect(await creating).toMatchObject({ kind: 'aborted', attempts: 1 });
    await new Promise(setImmediate);
    expect(retries).toEqual([]);
  });

  it('an abort by a hook ends the call', async () => {
    const controller = new AbortController();
    const client = createTestClient(() => Promise.reject(new Error('broken')), {
      retries: 9,
      onRetry: () => controller.abort(),
    });
    expect(await errorOf(client, controller.signal)).toMatchObject({
      kind: 'aborted',
      attempts: 1,
    });
  });
});

it('1,000 calls with one signal leave no listener and no timer', async () => {
  const { signal } = new AbortController();
  const before = timers();
  let calls = 0;
  const client = createTestClient(
    async () => {
      calls += 1;
      if (calls % 3 === 0) throw new Error('broken');
      return new Response('{"name":"a"}', { status: calls % 3 === 1 ? 200 : 503 });
    },
    { token: async () => token, retries: 1, retryDelayMs: 0 },
  );
  let most = 0;
  for (let batch = 0; batch < 10; batch += 1) {
    const creating = Array.from({ length: 100 }, async () => client.createPlant(plant, { signal }));
    most = Math.max(most, getEventListeners(signal, 'abort').length);
    await Promise.all(creating);
  }
  expect(most).toBe(100);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  expect(timers()).toBeLessThanOrEqual(before);
  expect(calls).toBeGreaterThan(1_000);
});
