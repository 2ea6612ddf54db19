import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  unendingBody,
  createTestClient,
  errorOf,
  hostile,
  isPrompt,
  never,
  timers,
  token,
  untyped,
} from '../test/fixtures.ts';
import { startServer } from '../test/start-server.ts';
import { createClient, type PlantClient } from './index.ts';

/** Aborts a call after an event, and checks the properties of every abort. */
const abortAfter = async (client: PlantClient, event: Promise<unknown>) => {
  const controller = new AbortController();
  const before = timers();
  const creating = errorOf(client, controller.signal);
  await event;
  controller.abort(new Error('the user left'));
  expect(await isPrompt(creating)).toBe(true);
  const error = await creating;
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  expect(timers()).toBeLessThanOrEqual(before);
  expect(error).toMatchObject({
    kind: 'aborted',
    attempts: 1,
    cause: { name: 'Error', message: 'the user left' },
  });
  return error;
};

describe('abort', () => {
  it('an abort before the call sends nothing', async () => {
    const signal = AbortSignal.abort('cancelled');
    const client = createTestClient(() => Promise.reject(new Error('was called')));
    expect(await errorOf(client, signal)).toEqual({
      kind: 'aborted',
      message: 'the call was aborted',
      cause: { name: 'string', message: 'cancelled' },
      attempts: 0,
    });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('an abort ends the wait for headers', async () => {
    const requested = Promise.withResolvers<unknown>();
    const closed = Promise.withResolvers<unknown>();
    const origin = await startServer((request) => {
      requested.resolve(request);
      request.socket.on('close', closed.resolve);
    });
    await abortAfter(createClient({ baseUrl: origin, token }), requested.promise);
    await closed.promise;
  });

  it('an abort ends the wait for the body', async () => {
    const started = Promise.withResolvers<unknown>();
    const closed = Promise.withResolvers<unknown>();
    const origin = await startServer((request, response) => {
      response.write('{"name":');
      request.socket.on('close', closed.resolve);
    });
    const client = createTestClient(
      async (url, init) => {
        const response = await fetch(url, init);
        setImmediate(started.resolve);
        return response;
      },
      { baseUrl: origin },
    );
    expect(await abortAfter(client, started.promise)).toMatchObject({ status: 200 });
    await closed.promise;
  });

  it.each([401, 503])(
    'an abort while the body of a %i is read prevents a new token and a retry',
    async (status) => {
      const { body } = unendingBody();
      const calls: unknown[] = [];
      const client = createTestClient(async () => new Response(body, { status }), {
        retries: 3,
        token: ({ refresh }) => {
          if (refresh) calls.push('refresh');
          return token;
        },
        onRetry: (retry) => calls.push(retry),
      });
      expect(await abortAfter(client, new Promise(setImmediate))).toMatchObject({ status });
      await new Promise(setImmediate);
      expect(calls).toEqual([]);
    },
  );

  it('an abort ends the wait for a fetch that ignores its signal', async () => {
    await abortAfter(createTestClient(never), Promise.resolve());
  });

  it('an abort ends the wait for a body that ignores the signal, and cancels it', async () => {
    const { body, cancelled } = unendingBody();
    const client = createTestClient(async () => new Response(body));
    const error = await abortAfter(client, new Promise(setImmediate));
    expect(error).toMatchObject({ status: 200 });
    await cancelled;
    await expect.poll(() => body.locked).toBe(false);
  });

  it('an abort ends the wait for an arrayBuffer that never settles', async () => {
    const client = createTestClient(async () => untyped({ status: 200, arrayBuffer: never }));
    await abortAfter(client, new Promise(setImmediate));
  });

  it('an abort by fetch takes precedence over the error that fetch throws', async () => {
    const controller = new AbortController();
    const client = createTestClient(() => {
      controller.abort();
      throw new Error('aborted');
    });
    expect(await errorOf(client, controller.signal)).toMatchObject({
      kind: 'aborted',
      cause: { name: 'AbortError' },
    });
  });

  it('an abort cancels the body of a response that arrives later', async () => {
    const { body, cancelled } = unendingBody();
    const late = Promise.withResolvers<Response>();
    await abortAfter(
      createTestClient(() => late.promise),
      Promise.resolve(),
    );
    late.resolve(new Response(body));
    await cancelled;
  });

  it('an abort causes no unhandled rejection if fetch rejects later', async () => {
    const unhandled: unknown[] = [];
    const record = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', record);
    const late = Promise.withResolvers<Response>();
    await abortAfter(
      createTestClient(() => late.promise),
      Promise.resolve(),
    );
    late.reject(new Error('too late'));
    // Node emits unhandledRejection before the next turn of the event loop.
    await new Promise(setImmediate);
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

  it('an abort with a reason that throws on access results in an error of plain data', async () => {
    const error = await errorOf(createTestClient(never), AbortSignal.abort(hostile));
    expect(error).toMatchObject({ kind: 'aborted', cause: { name: 'function' } });
  });
});

describe('settled call', () => {
  it('a settled call leaves no listener on the signal and no timer, after every outcome', async () => {
    const { signal } = new AbortController();
    const before = timers();
    for (const fetch of [
      async () => new Response('{"name":"a"}'),
      async () => new Response('', { status: 500 }),
      () => Promise.reject(new Error('broken')),
    ]) {
      const creating = errorOf(createTestClient(fetch, { attemptTimeoutMs: 60_000 }), signal);
      expect(timers()).toBe(before + 1);
      expect(getEventListeners(signal, 'abort')).toHaveLength(1);
      await creating;
      expect(timers()).toBe(before);
      expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    }
  });

  it('a settled call releases its connection, so that a later call reuses it', async () => {
    const sockets = new Set<unknown>();
    const origin = await startServer((request, response) => {
      sockets.add(request.socket);
      response.end('{"name":"a"}');
      request.resume();
    });
    const client = createClient({ baseUrl: origin, token });
    const calls = 5;
    for (let call = 0; call < calls; call += 1) await errorOf(client);
    expect(sockets.size).toBeLessThan(calls);
  });
});
