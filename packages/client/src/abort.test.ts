import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createTestClient,
  errorOf,
  isPrompt,
  never,
  plant,
  rejecting,
  timers,
  token,
  unendingBody,
  untyped,
} from '../test/fixtures.ts';
import { startServer } from '../test/start-server.ts';
import { type ClientOptions, createClient } from './index.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const nextTurn = async () => new Promise(setImmediate);

/** Limits that no test reaches, as an abort must not wait for them. */
const slow = { attemptTimeoutMs: 60_000, timeoutMs: 60_000, retries: 3 };

/** Aborts a call after an event, checks what every abort has in common, and returns the error. */
const abortAfter = async (
  event: Promise<unknown>,
  fetch: NonNullable<ClientOptions['fetch']>,
  options: Partial<ClientOptions> = {},
) => {
  const controller = new AbortController();
  const before = timers();
  const client = createTestClient(fetch, { ...slow, ...options });
  const creating = errorOf(client, controller.signal);
  await event;
  controller.abort(new Error('the user left'));
  expect(await isPrompt(creating)).toBe(true);
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  expect(timers()).toBeLessThanOrEqual(before);
  const error = await creating;
  const cause = { name: 'Error', message: 'the user left' };
  expect(error).toMatchObject({ kind: 'aborted', message: 'the call was aborted', cause });
  return error;
};

describe('abort', () => {
  it('an abort before the call sends nothing', async () => {
    const signal = AbortSignal.abort('cancelled');
    expect(await errorOf(createTestClient(rejecting('was called')), signal)).toEqual({
      kind: 'aborted',
      message: 'the call was aborted',
      cause: { name: 'string', message: 'cancelled' },
      attempts: 0,
    });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it.each<[string, Partial<ClientOptions>]>([
    ['headers', { headers: untyped(never) }],
    ['a token', { token: untyped(never) }],
  ])('an abort ends the wait for %s, and sends nothing', async (_, options) => {
    const error = await abortAfter(nextTurn(), rejecting('was called'), options);
    expect(error?.attempts).toBe(0);
  });

  it('an abort while a token is pending ends no other call', async () => {
    const pending = Promise.withResolvers<string>();
    const client = createTestClient(async () => new Response('{"name":"a"}'), {
      token: () => pending.promise,
    });
    const controller = new AbortController();
    const aborted = errorOf(client, controller.signal);
    const other = client.createPlant(plant);
    controller.abort();
    expect(await aborted).toMatchObject({ kind: 'aborted', attempts: 0 });
    pending.resolve(token);
    expect((await other).isOk()).toBe(true);
  });

  it.each([
    ['the headers of a response', '', {}],
    ['its body', '{"name":', { status: 200 }],
  ])('an abort ends the wait for %s, and closes the connection', async (_, sent, report) => {
    const started = Promise.withResolvers<unknown>();
    const closed = Promise.withResolvers<unknown>();
    const baseUrl = await startServer((request, response) => {
      request.socket.on('close', closed.resolve);
      if (sent === '') started.resolve(undefined);
      else response.write(sent);
    });
    const observed: typeof fetch = async (url, init) => {
      const response = await fetch(url, init);
      setImmediate(started.resolve);
      return response;
    };
    const error = await abortAfter(started.promise, observed, { baseUrl });
    expect(error).toMatchObject({ attempts: 1, ...report });
    await closed.promise;
  });

  it.each([401, 503])(
    'an abort ends the wait for the body of a %i that ignores its signal, cancels it, and prevents a new token and a retry',
    async (status) => {
      const { body, cancelled } = unendingBody();
      const calls: unknown[] = [];
      const error = await abortAfter(nextTurn(), async () => new Response(body, { status }), {
        token: ({ refresh }) => {
          if (refresh) calls.push('refresh');
          return token;
        },
        onRetry: (retry) => calls.push(retry),
      });
      expect(error).toMatchObject({ attempts: 1, status });
      await cancelled;
      await expect.poll(() => body.locked).toBe(false);
      expect(calls).toEqual([]);
    },
  );

  it('an abort ends the wait for a fetch or an arrayBuffer that never settles', async () => {
    await abortAfter(nextTurn(), never);
    await abortAfter(nextTurn(), async () => untyped({ status: 200, arrayBuffer: never }));
  });

  it('an abort ends the wait for the next attempt, which is not sent', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const waiting = Promise.withResolvers<unknown>();
    const fetch = vi.fn(async () => new Response('', { status: 503 }));
    const delays = { retryDelayMs: 30_000, maxRetryDelayMs: 30_000 };
    const options = { ...delays, onRetry: waiting.resolve };
    const error = await abortAfter(waiting.promise, fetch, options);
    expect(error).toMatchObject({ attempts: 1, status: 503 });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('an abort by a hook, or by fetch before it throws, ends the call', async () => {
    for (const abortIn of ['onRetry', 'fetch']) {
      const controller = new AbortController();
      const abort = () => controller.abort();
      const fetch = () => {
        if (abortIn === 'fetch') abort();
        throw new Error('broken');
      };
      const client = createTestClient(fetch, { retries: 9, onRetry: abort });
      const cause = { name: 'AbortError' };
      const expected = { kind: 'aborted', attempts: 1, cause };
      expect(await errorOf(client, controller.signal)).toMatchObject(expected);
    }
  });

  it('an abort cancels the body of a response that arrives later', async () => {
    const { body, cancelled } = unendingBody();
    const late = Promise.withResolvers<Response>();
    await abortAfter(nextTurn(), () => late.promise);
    late.resolve(new Response(body));
    await cancelled;
  });

  it('an abort causes no unhandled rejection if fetch rejects later', async () => {
    const unhandled: unknown[] = [];
    const record = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', record);
    const late = Promise.withResolvers<Response>();
    await abortAfter(nextTurn(), () => late.promise);
    late.reject(new Error('too late'));
    // Node emits unhandledRejection before the next turn of the event loop.
    await nextTurn();
    process.off('unhandledRejection', record);
    expect(unhandled).toEqual([]);
  });

  it.each([
    ['aborted', new EventTarget()],
    ['addEventListener', { aborted: false }],
    ['removeEventListener', { aborted: false, addEventListener: () => undefined }],
  ])('a signal without %s is signal-invalid, because it cannot abort a call', async (_, wrong) => {
    const error = await errorOf(createTestClient(never), untyped(wrong));
    expect(error).toMatchObject({ reason: 'signal-invalid', attempts: 0 });
  });
});

describe('settled call', () => {
  it('a settled call leaves no listener on the signal and no timer, after every outcome', async () => {
    const { signal } = new AbortController();
    for (const fetch of [
      async () => new Response('{"name":"a"}'),
      async () => new Response('', { status: 503 }),
      rejecting('broken'),
    ]) {
      const before = timers();
      const client = createTestClient(fetch, { ...slow, retryDelayMs: 0 });
      const creating = Array.from({ length: 20 }, async () => errorOf(client, signal));
      expect(getEventListeners(signal, 'abort')).toHaveLength(20);
      expect(timers()).toBe(before + 20);
      await Promise.all(creating);
      expect(getEventListeners(signal, 'abort')).toHaveLength(0);
      expect(timers()).toBeLessThanOrEqual(before);
    }
  });

  it('a settled call releases its connection, so that a later call reuses it', async () => {
    const sockets = new Set<unknown>();
    const baseUrl = await startServer((request, response) => {
      sockets.add(request.socket);
      response.end('{"name":"a"}');
      request.resume();
    });
    const client = createClient({ baseUrl, token });
    for (let call = 0; call < 5; call += 1) await errorOf(client);
    expect(sockets.size).toBeLessThan(5);
  });
});
