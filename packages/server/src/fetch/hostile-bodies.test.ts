import { getEventListeners } from 'node:events';
import type { UnderlyingSource } from 'node:stream/web';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import type { ErrorName } from '@plantstore/core/errors';
import { describe, expect, it } from 'vitest';
import { onDemand } from '../../test/on-demand.ts';
import { recordLog } from '@plantstore/test-support/record-log';
import { errorNameOf } from '../../test/services.ts';
import { createFetchHandler, type FetchHandlerOptions } from './create-fetch-handler.ts';

const monstera = Buffer.from('{"id":7,"name":"Monstera"}');
const headers = { Authorization: 'Bearer good', 'Content-Type': 'application/json' };

const handlerWith = (options: Partial<FetchHandlerOptions> = {}) =>
  createFetchHandler({
    repository: createMemoryRepository(),
    authenticate: (token) => token === 'good',
    maxBodyBytes: 1_000,
    ...options,
  });

const requestWith = (body: ReadableStream | string, more: RequestInit = {}) =>
  new Request('http://a/plants', { method: 'POST', headers, body, duplex: 'half', ...more });

const nameOf = async (response: Response): Promise<ErrorName | undefined> =>
  errorNameOf(((await response.json()) as { error: number }).error);

/** Returns a body with these bytes that never ends, and a promise that resolves when it is cancelled. */
const unendingBody = (bytes: Uint8Array) => {
  const { promise: cancelled, resolve: cancel } = Promise.withResolvers<unknown>();
  return {
    body: new ReadableStream({ start: (stream) => stream.enqueue(bytes), cancel }),
    cancelled,
  };
};

const silentBody = () => new ReadableStream({ start() {} });

describe('the body of a request', () => {
  it('a body is read in chunks of one byte', async () => {
    const body = new ReadableStream({
      start(stream) {
        for (const byte of monstera) stream.enqueue(Uint8Array.of(byte));
        stream.close();
      },
    });
    expect((await handlerWith()(requestWith(body))).status).toBe(200);
  });

  it('a body in chunks of one byte is refused as soon as it exceeds the limit', async () => {
    let sent = 0;
    const body = new ReadableStream({
      pull(stream) {
        sent += 1;
        stream.enqueue(Uint8Array.of(32));
      },
    });
    expect(await nameOf(await handlerWith()(requestWith(body)))).toBe('body-too-large');
    expect(sent).toBeLessThan(1_010);
  });

  it.each<[string, ErrorName, UnderlyingSource]>([
    ['fails at once', 'bad-request', { pull: (stream) => stream.error(new Error('no')) }],
    [
      'fails in the middle',
      'bad-request',
      {
        async pull(stream) {
          stream.enqueue(monstera.subarray(0, 5));
          await Promise.resolve();
          throw new Error('no');
        },
      },
    ],
    ['fails with undefined', 'bad-request', { pull: () => Promise.reject(undefined) }],
    [
      'is a stream of strings',
      'internal',
      { pull: (stream) => stream.enqueue('{"id":7,"name":"Monstera"}') },
    ],
    ['never arrives', 'request-timeout', {}],
    [
      'never arrives, and whose cancellation never completes',
      'request-timeout',
      { cancel: () => sleep(1e6) },
    ],
    [
      'never arrives, and whose cancellation fails',
      'request-timeout',
      { cancel: () => Promise.reject(new Error('no')) },
    ],
    [
      'is an endless stream of empty chunks',
      'request-timeout',
      { pull: (stream) => stream.enqueue(new Uint8Array(0)) },
    ],
  ])('a body that %s gets %s', async (_, name, source) => {
    const handler = handlerWith({ requestTimeoutMs: 50, maxInFlight: 1 });
    expect(await nameOf(await handler(requestWith(new ReadableStream(source))))).toBe(name);
    expect((await handler(requestWith(monstera.toString()))).status).toBe(200);
  });

  it('an endless stream of empty chunks as a body lets timers and other work run', async () => {
    const handler = handlerWith({ requestTimeoutMs: 1_000 });
    const body = new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(0)) });
    const controller = new AbortController();
    const response = handler(requestWith(body, { signal: controller.signal }));
    setImmediate(() => controller.abort('enough'));
    await expect(response).rejects.toBe('enough');
  });

  it('a body that is already read or locked gets 500, and its cause is logged', async () => {
    const { logged, logger } = recordLog();
    const handler = handlerWith({ logger });
    const read = requestWith(monstera.toString());
    await read.json();
    const readInPart = requestWith(monstera.toString());
    const reader = readInPart.body?.getReader();
    await reader?.read();
    reader?.releaseLock();
    const locked = requestWith(monstera.toString());
    locked.body?.getReader();
    const noBytes = requestWith(
      new ReadableStream({ pull: (stream) => stream.enqueue(monstera.toString()) }),
    );
    for (const request of [read, readInPart, locked, noBytes]) {
      expect(await nameOf(await handler(request))).toBe('internal');
    }
    const cause = 'the body was read before this handler was called, or is not a stream of bytes';
    expect(logged).toMatchObject([{ cause }, { cause }, { cause }, { cause }]);
  });

  it('a body that fails gets a message that states the failure', async () => {
    const body = new ReadableStream({ pull: (stream) => stream.error(new Error('no')) });
    const response = await handlerWith()(requestWith(body));
    expect(await response.json()).toEqual({ error: 1000, message: 'the body could not be read' });
  });

  it('a body leaves no timer and no listener once it is read', async () => {
    const timers = () =>
      process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;
    const request = requestWith(monstera.toString());
    const before = timers();
    expect((await handlerWith()(request)).status).toBe(200);
    expect(timers()).toBeLessThanOrEqual(before);
    expect(getEventListeners(request.signal, 'abort')).toEqual([]);
  });

  it('a plant is not stored if its request is aborted while the token is checked', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const created: unknown[] = [];
    const inner = createMemoryRepository();
    const repository: PlantRepository = {
      create: (newPlant) => {
        created.push(newPlant);
        return inner.create(newPlant);
      },
    };
    const authenticate = async () => {
      controller.abort('enough');
      return true;
    };
    const handler = handlerWith({ repository, authenticate });
    const { body, cancelled } = unendingBody(monstera);
    await expect(handler(requestWith(body, { signal }))).rejects.toBe('enough');
    await cancelled;
    expect(created).toEqual([]);
  });

  it.each([
    ['without a token', { headers: {} }, 401],
    ['with another token', { headers: { ...headers, Authorization: 'Bearer bad' } }, 401],
    ['with another path', {}, 404],
    ['with another media type', { headers: { Authorization: 'Bearer good' } }, 415],
    [
      'that declares a length above maxBodyBytes',
      { headers: { ...headers, 'Content-Length': '1001' } },
      413,
    ],
  ])('the body of a request %s is not read', async (_, more, status) => {
    const basePath = status === 404 ? '/garden' : '';
    const pulled: unknown[] = [];
    const body = new ReadableStream(
      { pull: (stream) => void pulled.push(stream) },
      {
        highWaterMark: 0,
      },
    );
    const response = await handlerWith({ basePath })(requestWith(body, more));
    expect(response.status).toBe(status);
    expect(pulled).toEqual([]);
  });

  it('a body that never arrives is cancelled if its request is aborted', async () => {
    const controller = new AbortController();
    const cancelled = Promise.withResolvers<void>();
    const { signal } = controller;
    const handler = handlerWith({ maxInFlight: 1 });
    const body = new ReadableStream({ cancel: () => cancelled.resolve() });
    const response = handler(requestWith(body, { signal }));
    setImmediate(() => controller.abort('enough'));
    await expect(response).rejects.toBe('enough');
    await cancelled.promise;
    expect((await handler(requestWith(monstera.toString()))).status).toBe(200);
  });
});

describe('requests in flight', () => {
  it('requests in flight are limited by maxInFlight, and one more gets 503', async () => {
    const { logged, logger } = recordLog();
    const handler = handlerWith({ maxInFlight: 2, logger });
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = [1, 2].map(async () => handler(requestWith(silentBody(), { signal })));
    const refused = await handler(requestWith(monstera.toString()));
    expect(await nameOf(refused)).toBe('unavailable');
    expect(refused.headers.get('Retry-After')).toBe('1');
    const cause = 'as many requests are in flight as may be (maxInFlight)';
    expect(logged).toMatchObject([{ status: 503, cause }]);
    const unauthenticated = await handler(requestWith(silentBody(), { headers: {} }));
    expect(unauthenticated.status).toBe(401);
    controller.abort();
    await Promise.allSettled(waiting);
    expect((await handler(requestWith(monstera.toString()))).status).toBe(200);
  });

  it('requests in flight are limited while the repository takes longer than a body may', async () => {
    const { repository, until, completeAll } = onDemand();
    const handler = handlerWith({ repository, maxInFlight: 1, requestTimeoutMs: 50 });
    const first = handler(requestWith(monstera.toString()));
    await until(1);
    await sleep(100);
    expect(await nameOf(await handler(requestWith(monstera.toString())))).toBe('unavailable');
    completeAll();
    expect((await first).status).toBe(200);
  });
});
