import { createContext, runInContext } from 'node:vm';
import type { PlantRepository } from '@plantstore/core';
import { ResultAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import {
  good,
  handlerWith,
  headers,
  loggingHandler,
  streaming,
  url,
} from '../../test/fetch-handlers.ts';
import { plant, recordPlants } from '../../test/listen.ts';
import type { FetchRequest } from './fetch-request.ts';

const never = () => ResultAsync.fromSafePromise(new Promise<never>(() => undefined));
const silentBody = () => new ReadableStream({ start() {} });

describe('the fetch handler', () => {
  it('the fetch handler accepts a URL and a Request, and ignores a second argument beside a Request', async () => {
    const handler = handlerWith() as (...args: readonly unknown[]) => Promise<Response>;
    expect((await handler(new URL(url), good)).status).toBe(200);
    expect((await handler(new Request(url, good), { method: 'GET' })).status).toBe(200);
  });

  it.each<[number, object]>([
    [503, { repository: { create: never }, handlerTimeoutMs: 20 }],
    [503, { authenticate: async () => new Promise<never>(() => {}), handlerTimeoutMs: 20 }],
    [
      500,
      {
        repository: {
          create: () => {
            throw new Error('gone');
          },
        },
      },
    ],
  ])('the fetch handler responds with %i if authenticate or the store fails', async (...row) => {
    const [status, options] = row;
    expect((await handlerWith(options)(url, good)).status).toBe(status);
  });

  it('the fetch handler responds with 501 to a method that HTTP does not have', async () => {
    expect((await handlerWith()(url, { method: 'BREW', headers })).status).toBe(501);
  });

  it('the fetch handler responds with 500 if the runtime throws for the body', async () => {
    const request = new Request(url, good);
    const get = () => {
      throw new Error('gone');
    };
    Object.defineProperty(request, 'body', { get });
    expect((await handlerWith()(request)).status).toBe(500);
  });

  it('the fetch handler limits the requests in flight to maxInFlight, without those that are refused', async () => {
    const { handler, logged } = loggingHandler({ maxInFlight: 2 });
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = [1, 2].map(async () => handler(streaming(silentBody(), { signal })));
    const refused = await handler(url, good);
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '1']);
    const cause = 'as many requests are in flight as may be (maxInFlight)';
    expect(logged).toMatchObject([{ status: 503, cause }]);
    expect((await handler(streaming(silentBody(), { headers: {} }))).status).toBe(401);
    controller.abort();
    await Promise.allSettled(waiting);
    expect((await handler(url, good)).status).toBe(200);
  });
});

describe('an aborted request', () => {
  it('an aborted request creates nothing if its signal has aborted before', async () => {
    const { repository, created } = recordPlants();
    const signal = AbortSignal.abort('enough');
    await expect(handlerWith({ repository })(url, { ...good, signal })).rejects.toBe('enough');
    expect(created).toEqual([]);
  });

  it.each<[string, (abort: () => void) => object]>([
    [
      'authentication',
      (abort) => ({
        authenticate: async () => {
          abort();
          return true;
        },
      }),
    ],
    ['its body', () => ({})],
  ])(
    'an aborted request rejects, creates nothing and cancels its body during %s',
    async (...row) => {
      const [during, optionsOf] = row;
      const controller = new AbortController();
      const { repository, created } = recordPlants();
      const cancelled = Promise.withResolvers<void>();
      const body = new ReadableStream({
        start: (stream) => stream.enqueue(Buffer.from(plant(7))),
        cancel: () => cancelled.resolve(),
      });
      const abort = () => controller.abort('enough');
      const handler = handlerWith({ repository, maxInFlight: 1, ...optionsOf(abort) });
      const creating = handler(streaming(body, { signal: controller.signal }));
      if (during === 'its body') setImmediate(abort);
      await expect(creating).rejects.toBe('enough');
      await cancelled.promise;
      expect(created).toEqual([]);
      if (during === 'its body') expect((await handler(url, good)).status).toBe(200);
    },
  );

  it('an aborted request rejects at once during a create', async () => {
    const controller = new AbortController();
    const create = () => {
      controller.abort('enough');
      return never();
    };
    // No timeout ends the create.
    const handler = handlerWith({ repository: { create }, handlerTimeoutMs: 86_400_000 });
    const creating = handler(url, { ...good, signal: controller.signal });
    await expect(creating).rejects.toBe('enough');
  });
});

describe('a request that is no Request', () => {
  const request = () => {
    const body = new Blob([plant(7)]).stream() as object | null;
    return { url, method: 'POST', headers: new Headers(headers), bodyUsed: false, body };
  };

  it.each<[string, status: number, Partial<FetchRequest>]>([
    ['without a signal', 200, {}],
    ['whose signal is null', 200, { signal: null }],
    ['whose body never arrives', 408, { body: silentBody() }],
    ['whose body is null', 400, { body: null }],
    ['whose body was read and is null', 500, { body: null, bodyUsed: true }],
    ['whose body is an object', 500, { body: {} }],
    ['whose body is undefined', 500, { body: undefined as unknown as null }],
  ])('a request that is no Request, %s, gets %s', async (_, status, more) => {
    const handler = handlerWith({ requestTimeoutMs: status === 408 ? 20 : 60_000 });
    expect((await handler({ ...request(), ...more })).status).toBe(status);
  });

  it('a request whose signal cannot be read is refused for its URL', async () => {
    const odd = {
      url: 'http://u@plants.test/plants',
      get signal(): AbortSignal {
        throw new TypeError('the URL includes credentials');
      },
    };
    const { url: _, ...rest } = request();
    expect((await handlerWith()(Object.assign(odd, rest))).status).toBe(400);
  });
});

describe('values of another realm', () => {
  const inRealm = (code: string): unknown => runInContext(code, createContext({}));

  it('chunks of another realm are bytes', async () => {
    const toBytes = inRealm('(list) => Uint8Array.from(list)') as (list: number[]) => Uint8Array;
    const chunks = [toBytes([...Buffer.from(plant(7))])].values();
    const body = { getReader: () => ({ read: async () => chunks.next(), cancel: async () => {} }) };
    const more = { url, method: 'POST', headers: new Headers(headers), bodyUsed: false, body };
    expect((await handlerWith()(more)).status).toBe(200);
  });

  it('promises of another realm are awaited, of authenticate and of a logger', async () => {
    const authenticate = inRealm('async () => ({ tokenName: "ci" })') as () => Promise<boolean>;
    const { handler, logged } = loggingHandler({ authenticate });
    await handler(url, good);
    expect(logged).toMatchObject([{ tokenName: 'ci' }]);
    // An unhandled rejection fails the run.
    const fail = inRealm('async () => { throw new Error("no") }') as () => void;
    const logger = { info: fail, warn: fail, error: fail };
    expect((await handlerWith({ logger })(url, good)).status).toBe(200);
  });

  it('an error of another realm is logged with its message and its causes', async () => {
    const create = inRealm(
      '() => { throw new AggregateError([new TypeError("a bug")], "many") }',
    ) as PlantRepository['create'];
    const { handler, logged } = loggingHandler({ repository: { create } });
    expect((await handler(url, good)).status).toBe(500);
    const cause = expect.stringMatching(/AggregateError: many\n[^]*caused by: TypeError: a bug\n/);
    expect(logged).toMatchObject([{ cause: cause as unknown }]);
  });
});
