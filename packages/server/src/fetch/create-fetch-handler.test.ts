import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import { errorTable } from '@plantstore/core/errors';
import { ResultAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { listen, maxBodyBytes } from '../../test/listen.ts';
import { createFetchHandler, type FetchHandlerOptions } from './create-fetch-handler.ts';

const fetchWith = (options: Partial<FetchHandlerOptions> = {}) =>
  createFetchHandler({
    repository: createMemoryRepository(),
    authenticate: (token) => token === 'good',
    maxBodyBytes,
    ...options,
  });

const monstera = '{"id":7,"name":"Monstera"}';
const fields = {
  Authorization: 'Bearer good',
  'Content-Type': 'application/json',
  'X-Request-Id': 'one',
};
type Init = Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> };
const good = { method: 'POST', headers: fields, body: monstera };
const origin = 'https://garden.example';
const longBody = 'x'.repeat(maxBodyBytes + 1);

/** Returns a response without the headers that a connection adds. */
const contentOf = async (response: Response) => {
  const {
    date: _,
    connection: __,
    'keep-alive': ___,
    ...headers
  } = Object.fromEntries(response.headers);
  return { status: response.status, headers, body: await response.text() };
};

describe('the fetch handler', () => {
  it.each<[string, string, Init]>([
    ['a plant', '/plants', good],
    ['a query', '/plants?x=/y', good],
    ['a percent-encoded path', '/%70lant%73', good],
    ['another plant', '/plants', { ...good, body: '{"id":1,"name":"another"}' }],
    ['another path', '/elsewhere', good],
    ['another method', '/plants', { method: 'GET' }],
    ['HEAD', '/plants', { method: 'HEAD' }],
    ['no token', '/plants', { ...good, headers: {} }],
    ['another token', '/plants', { ...good, headers: { ...fields, Authorization: 'Bearer bad' } }],
    ['text', '/plants', { ...good, headers: { ...fields, 'Content-Type': 'text/plain' } }],
    ['gzip', '/plants', { ...good, headers: { ...fields, 'Content-Encoding': 'gzip' } }],
    ['the longest body', '/plants', { ...good, body: monstera.padEnd(maxBodyBytes) }],
    ['a long body', '/plants', { ...good, body: longBody }],
    ['a long body without a token', '/plants', { ...good, headers: {}, body: longBody }],
    ['no body', '/plants', { method: 'POST', headers: fields }],
    ['no JSON', '/plants', { ...good, body: '{' }],
    ['bytes that are not UTF-8', '/plants', { ...good, body: Uint8Array.of(0xff) }],
    ['several faults', '/plants', { ...good, body: '{"id":9223372036854775808,"tag":null}' }],
    ['a cross-origin request', '/plants', { ...good, headers: { ...fields, Origin: origin } }],
    ['a preflight', '/plants', { method: 'OPTIONS', headers: { Origin: origin } }],
  ])('the fetch handler responds to %s as the server does', async (_, path, init) => {
    const options = { corsOrigins: [origin] };
    const seed = { ...good, body: '{"id":1,"name":"Ficus"}' };
    const { port } = await listen(options);
    const inProcess = fetchWith(options);
    const outcomes = await Promise.all(
      [globalThis.fetch, inProcess].map(async (fetch) => {
        const base = `http://127.0.0.1:${port}`;
        await (await fetch(base + '/plants', seed)).text();
        const request = { ...init, headers: { 'X-Request-Id': 'one', ...init.headers } };
        return contentOf(await fetch(base + path, request));
      }),
    );
    expect(outcomes[1]).toEqual(outcomes[0]);
  });

  it('the fetch handler accepts a Request with a body in chunks', async () => {
    const body = new Blob([monstera]).stream();
    const request = new Request('http://plants.test/plants', { ...good, body, duplex: 'half' });
    expect(await contentOf(await fetchWith()(request))).toMatchObject({
      status: 200,
      body: '{"name":"Monstera"}',
    });
  });

  it.each([
    ['a valid Host field', 'plants.test:3000', 200],
    ['an invalid Host field', 'a/b', 400],
  ])('the fetch handler responds to a Request with %s', async (_, host, status) => {
    const request = new Request('http://plants.test/plants', good);
    request.headers.set('Host', host);
    expect((await fetchWith()(request)).status).toBe(status);
  });

  it('the fetch handler ignores a second argument beside a Request', async () => {
    const handler = fetchWith() as (request: Request, ...more: readonly unknown[]) => unknown;
    const request = new Request('http://plants.test/plants', good);
    expect(await handler(request, { method: 'GET', headers: {} })).toMatchObject({ status: 200 });
  });

  it('the fetch handler responds with 503 if authenticate or the store exceeds handlerTimeoutMs', async () => {
    const never = ResultAsync.fromSafePromise(new Promise<never>(() => undefined));
    for (const option of [
      { repository: { create: () => never } },
      { authenticate: async () => new Promise<never>(() => undefined) },
    ]) {
      const handler = fetchWith({ ...option, handlerTimeoutMs: 20 });
      expect((await handler('http://plants.test/plants', good)).status).toBe(503);
    }
  });

  it('the fetch handler responds with 501 to a method that HTTP does not have', async () => {
    const init = { method: 'BREW', headers: fields };
    expect((await fetchWith()('http://plants.test/plants', init)).status).toBe(501);
  });

  it('the fetch handler stops reading an endless body', async () => {
    let cancelled = false;
    const body = new ReadableStream({
      pull: (stream) => stream.enqueue(new Uint8Array(100)),
      cancel: () => {
        cancelled = true;
      },
    });
    const response = await fetchWith()('http://plants.test/plants', {
      ...good,
      body,
      duplex: 'half',
    });
    expect(await response.json()).toMatchObject({ error: errorTable['body-too-large'].error });
    expect(cancelled).toBe(true);
  });

  it('the fetch handler rejects with the abort reason of an already aborted signal, without creating', async () => {
    const fetch = fetchWith();
    const url = 'http://plants.test/plants';
    const signal = AbortSignal.abort('enough');
    await expect(fetch(url, { ...good, signal })).rejects.toBe('enough');
    const ficus = { ...good, body: '{"id":7,"name":"Ficus"}' };
    expect((await fetch(url, ficus)).status).toBe(200);
  });

  it('the fetch handler rejects with the abort reason if the signal aborts during a create', async () => {
    const controller = new AbortController();
    const repository = {
      create: () => {
        controller.abort('enough');
        return ResultAsync.fromSafePromise(new Promise<never>(() => undefined));
      },
    };
    // No timeout ends the create.
    const fetch = fetchWith({ repository, handlerTimeoutMs: 86_400_000 });
    const creating = fetch('http://plants.test/plants', { ...good, signal: controller.signal });
    await expect(creating).rejects.toBe('enough');
  });

  it('the fetch handler creates nothing if the signal aborts before the body is complete', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const cancelled = Promise.withResolvers<void>();
    const body = new ReadableStream({
      start: (stream) => stream.enqueue(Buffer.from(monstera)),
      cancel: cancelled.resolve,
    });
    const created: unknown[] = [];
    const inner = createMemoryRepository();
    const repository: PlantRepository = {
      create: (newPlant) => {
        created.push(newPlant);
        return inner.create(newPlant);
      },
    };
    const creating = fetchWith({ repository })('http://plants.test/plants', {
      ...good,
      body,
      duplex: 'half',
      signal,
    });
    setImmediate(() => controller.abort('enough'));
    await expect(creating).rejects.toBe('enough');
    await cancelled.promise;
    expect(created).toEqual([]);
  });

  it('the fetch handler rejects with the abort reason if the signal aborts during authentication', async () => {
    const controller = new AbortController();
    const authenticate = () => {
      controller.abort('enough');
      return false;
    };
    const { signal } = controller;
    const creating = fetchWith({ authenticate })('http://plants.test/plants', { ...good, signal });
    await expect(creating).rejects.toBe('enough');
  });

  it('the fetch handler responds with 500 if the store throws', async () => {
    const repository = {
      create: () => {
        throw new Error('gone');
      },
    };
    const response = await fetchWith({ repository })('http://plants.test/plants', good);
    expect(response.status).toBe(500);
  });

  it('the fetch handler responds with 500 if the runtime throws for the body', async () => {
    const request = new Request('http://plants.test/plants', good);
    const get = () => {
      throw new Error('gone');
    };
    Object.defineProperty(request, 'body', { get });
    const response = await fetchWith()(request);
    expect(await response.json()).toMatchObject({ error: errorTable.internal.error });
  });

  it('the fetch handler throws a TypeError for a wrong option', () => {
    expect(() => fetchWith({ basePath: 'garden' })).toThrow(TypeError);
    expect(() => fetchWith({ maxBodyBytes: 0 })).toThrow(TypeError);
  });
});
