import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import {
  abandonable,
  clientWith,
  errorOf,
  hostile,
  isPrompt,
  never,
  plant,
  timers,
  token,
  untyped,
} from '../test/fixtures.ts';
import { serve } from '../test/serve.ts';
import { createClient, type PlantClient } from './index.ts';

/** Aborts once something has happened, and checks what every abort must hold to. */
const abortAfter = async (client: PlantClient, happened: Promise<unknown>) => {
  const controller = new AbortController();
  const before = timers();
  const creating = errorOf(client, controller.signal);
  await happened;
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

describe('an abort', () => {
  it('before the call sends nothing', async () => {
    const signal = AbortSignal.abort('changed my mind');
    const client = clientWith(() => Promise.reject(new Error('was called')));
    expect(await errorOf(client, signal)).toEqual({
      kind: 'aborted',
      message: 'the call was aborted',
      cause: { name: 'string', message: 'changed my mind' },
      attempts: 0,
    });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('ends the wait for headers', async () => {
    const asked = Promise.withResolvers<unknown>();
    const gone = Promise.withResolvers<unknown>();
    const origin = await serve((request) => {
      asked.resolve(request);
      request.socket.on('close', gone.resolve);
    });
    await abortAfter(createClient({ baseUrl: origin, token }), asked.promise);
    await gone.promise;
  });

  it('ends the wait for the body', async () => {
    const begun = Promise.withResolvers<unknown>();
    const gone = Promise.withResolvers<unknown>();
    const origin = await serve((request, response) => {
      response.write('{"name":');
      request.socket.on('close', gone.resolve);
    });
    const client = clientWith(
      async (url, init) => {
        const response = await fetch(url, init);
        setImmediate(begun.resolve);
        return response;
      },
      { baseUrl: origin },
    );
    expect(await abortAfter(client, begun.promise)).toMatchObject({ status: 200 });
    await gone.promise;
  });

  it.each([401, 503])(
    'in the body of a %i asks for no token and tells of no retry',
    async (status) => {
      const { body } = abandonable();
      const told: unknown[] = [];
      const client = clientWith(async () => new Response(body, { status }), {
        retries: 3,
        token: ({ refresh }) => {
          if (refresh) told.push('refresh');
          return token;
        },
        onRetry: (retry) => told.push(retry),
      });
      expect(await abortAfter(client, new Promise(setImmediate))).toMatchObject({ status });
      await new Promise(setImmediate);
      expect(told).toEqual([]);
    },
  );

  it('ends the wait for a fetch that ignores its signal', async () => {
    await abortAfter(clientWith(never), Promise.resolve());
  });

  it('ends the wait for a body that ignores the signal, and cancels it', async () => {
    const { body, cancelled } = abandonable();
    const client = clientWith(async () => new Response(body));
    const error = await abortAfter(client, new Promise(setImmediate));
    expect(error).toMatchObject({ status: 200 });
    await cancelled;
    await vi.waitFor(() => expect(body.locked).toBe(false));
  });

  it('ends the wait for a text that never comes', async () => {
    const client = clientWith(async () => untyped({ status: 200, arrayBuffer: never }));
    await abortAfter(client, new Promise(setImmediate));
  });

  it('from within fetch counts before what fetch answers', async () => {
    const controller = new AbortController();
    const client = clientWith(() => {
      controller.abort();
      throw new Error('as told');
    });
    expect(await errorOf(client, controller.signal)).toMatchObject({
      kind: 'aborted',
      cause: { name: 'AbortError' },
    });
  });

  it('cancels a body that comes too late', async () => {
    const { body, cancelled } = abandonable();
    const late = Promise.withResolvers<Response>();
    await abortAfter(
      clientWith(() => late.promise),
      Promise.resolve(),
    );
    late.resolve(new Response(body));
    await cancelled;
  });

  it('leaves a rejection that comes too late handled', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    const late = Promise.withResolvers<Response>();
    await abortAfter(
      clientWith(() => late.promise),
      Promise.resolve(),
    );
    late.reject(new Error('too late'));
    // Node tells of unhandled rejections before it begins the next turn.
    await new Promise(setImmediate);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  it('with a hostile reason is still plain data', async () => {
    const error = await errorOf(clientWith(never), AbortSignal.abort(hostile));
    expect(error).toMatchObject({ kind: 'aborted', cause: { name: 'function' } });
  });

  it('through a signal that throws at everything ends nothing, and nothing throws', async () => {
    const signal = untyped({
      aborted: false,
      addEventListener: () => {
        throw new Error('no');
      },
      removeEventListener: undefined,
    });
    const client = clientWith(async () => new Response('{"name":"a"}'));
    expect(await client.createPlant(plant, { signal })).toMatchObject({ value: { name: 'a' } });
  });
});

describe('a finished call', () => {
  it('leaves no listener on the signal and no timer, whatever came of it', async () => {
    const { signal } = new AbortController();
    const before = timers();
    for (const fetch of [
      async () => new Response('{"name":"a"}'),
      async () => new Response('', { status: 500 }),
      () => Promise.reject(new Error('broken')),
    ]) {
      const creating = errorOf(clientWith(fetch, { attemptTimeoutMs: 60_000 }), signal);
      expect(timers()).toBe(before + 1);
      expect(getEventListeners(signal, 'abort')).toHaveLength(1);
      await creating;
      expect(timers()).toBe(before);
      expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    }
  });

  it('gives its connection back, so that a later call reuses it', async () => {
    const sockets = new Set<unknown>();
    const origin = await serve((request, response) => {
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
