import { afterEach, describe, expect, it, vi } from 'vitest';
import { createTestClient, hostile, plant, respondWith, token, untyped } from '../test/fixtures.ts';
import { startServer } from '../test/start-server.ts';
import { createClient, type PlantClient } from './index.ts';

const monstera = { id: 9007199254740993n, name: 'Monstera', tag: 'climber' };
const stored = { name: 'Monstera', tag: 'climber' };
const sentBody = '{"id":9007199254740993,"name":"Monstera","tag":"climber"}';

/** Returns the plant or the error of a call. */
const outcomeOf = async (client: PlantClient, ...args: Parameters<PlantClient['createPlant']>) =>
  client.createPlant(...args).match<unknown>(
    (value) => value,
    (error) => error,
  );

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('createClient', () => {
  it.each(['', '/', '/garden/v1', '/garden/v1/'])(
    'createClient sends POST to /plants below a base URL that ends with "%s"',
    async (path) => {
      const seen: unknown[] = [];
      const origin = await startServer((request, response) => {
        const { method, url, headers } = request;
        seen.push(method, url, headers.authorization, headers['content-type']);
        request.setEncoding('utf8').on('data', (text: string) => seen.push(text));
        request.on('end', () => response.end(JSON.stringify(stored)));
      });
      const client = createClient({ baseUrl: origin + path, token });
      expect(await outcomeOf(client, monstera)).toEqual(stored);
      const url = `${path.replace(/\/$/, '')}/plants`;
      expect(seen).toEqual(['POST', url, `Bearer ${token}`, 'application/json', sentBody]);
    },
  );

  it('createClient sends two header fields and calls fetch without a this', async () => {
    const calls: unknown[] = [];
    const client = createTestClient(function fetch(this: unknown, url, { signal, ...init }) {
      calls.push(this, url, init, signal.aborted);
      return Promise.resolve(Response.json(stored));
    });
    expect(await outcomeOf(client, monstera)).toEqual(stored);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: sentBody, redirect: 'manual' };
    expect(calls).toEqual([undefined, 'http://127.0.0.1:9/plants', init, false]);
  });

  it('createClient looks up globalThis.fetch at each call', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:9', token });
    vi.stubGlobal('fetch', async () => new Response('{"name":"a"}'));
    expect(await outcomeOf(client, plant)).toEqual({ name: 'a' });
    vi.stubGlobal('fetch', undefined);
    expect(await outcomeOf(client, plant)).toMatchObject({ reason: 'fetch-invalid', attempts: 0 });
  });

  it.each(['TextDecoder', 'AbortController'])(
    'createClient returns fetch-invalid and names %s if the runtime lacks it, and sends nothing',
    async (name) => {
      const fetch = vi.fn<() => Promise<Response>>();
      vi.stubGlobal(name, undefined);
      expect(await outcomeOf(createTestClient(fetch), plant)).toMatchObject({
        kind: 'request-invalid',
        reason: 'fetch-invalid',
        message: expect.stringContaining(name) as unknown,
        attempts: 0,
      });
      expect(fetch).not.toHaveBeenCalled();
    },
  );

  it.each([
    ['base-url-invalid', { baseUrl: 'nowhere' }, plant, undefined],
    ['fetch-invalid', { fetch: untyped('x') }, plant, undefined],
    ['id-not-exact', {}, { ...plant, id: 2 ** 53 }, undefined],
    ['plant-unwritable', {}, hostile, undefined],
    ['signal-invalid', {}, plant, { signal: {} }],
    ['headers-invalid', { headers: untyped(7) }, plant, undefined],
  ])('createPlant returns %s for an invalid argument, and sends nothing', async (...row) => {
    const [reason, options, newPlant, callOptions] = row;
    const fetch = vi.fn<() => Promise<Response>>();
    const client = createTestClient(fetch, options);
    const error = await outcomeOf(client, untyped(newPlant), untyped(callOptions));
    expect(error).toMatchObject({ kind: 'request-invalid', reason, attempts: 0 });
    expect(fetch).not.toHaveBeenCalled();
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a number', 7],
    ['an empty object', {}],
    ['a value whose members throw', hostile],
  ])('a client whose options are %s returns an error for each call', async (_, options) => {
    const error = await outcomeOf(createClient(untyped(options)), plant, untyped(options));
    expect(error).toMatchObject({ kind: 'request-invalid', attempts: 0 });
  });

  it('createClient reads its options once, and the plant before createPlant returns', async () => {
    const options = { baseUrl: await startServer(respondWith(200, '{"name":"a"}')), token };
    const client = createClient(options);
    Object.assign(options, { baseUrl: 'nowhere', token: '' });
    const newPlant = { id: 7, name: 'a' };
    const creating = outcomeOf(client, newPlant);
    newPlant.id = 0.5;
    expect(await creating).toEqual({ name: 'a' });
  });

  it('createClient accepts the response for a large plant, with every character escaped', async () => {
    const name = 'é'.repeat(600_000);
    const escaped = `{"name":"${String.raw`\u00e9`.repeat(600_000)}"}`;
    const client = createClient({ baseUrl: await startServer(respondWith(200, escaped)), token });
    expect(await outcomeOf(client, { id: 7, name })).toEqual({ name });
  });

  it('createClient returns the error of the service', async () => {
    const body = '{"error":1401,"message":"another plant has this id"}';
    const client = createClient({ baseUrl: await startServer(respondWith(400, body)), token });
    expect(await outcomeOf(client, plant)).toEqual({
      kind: 'refused',
      name: 'id-taken',
      error: 1401,
      message: 'another plant has this id',
      status: 400,
      attempts: 1,
    });
  });
});

describe('redirect', () => {
  it.each([301, 302, 303, 307, 308])(
    'a redirect with status %i is not followed',
    async (status) => {
      const redirected: unknown[] = [];
      const target = await startServer((request, response) => {
        redirected.push(request.headers);
        response.end('{"name":"stolen"}');
      });
      const location = `${target}/plants`;
      const baseUrl = await startServer(respondWith(status, 'moved', { location }));
      expect(await outcomeOf(createClient({ baseUrl, token }), plant)).toEqual({
        kind: 'unexpected-status',
        message: `unexpected response with status ${status} to ${location}`,
        status,
        body: 'moved',
        attempts: 1,
      });
      expect(redirected).toEqual([]);
    },
  );

  it.each([
    ['it has redirected', { redirected: true }, 'its URL is not what was sent'],
    ['its URL is another one', { url: 'http://127.0.0.1:9/else' }, 'its URL is not what was sent'],
    ['it has the URL of the request', { url: 'http://127.0.0.1:9/plants' }, undefined],
    ['it has an empty URL', { url: '' }, undefined],
    ['it has no URL', {}, undefined],
    ['it has not redirected', { redirected: false, url: 'http://127.0.0.1:9/else' }, undefined],
  ])('a redirect that fetch followed is found in a response: %s', async (_, members, message) => {
    const arrayBuffer = async () => Buffer.from('{"name":"a"}');
    const client = createTestClient(async () => untyped({ status: 200, arrayBuffer, ...members }));
    const expected = {
      kind: 'response-invalid',
      message: expect.stringContaining(`${message}`) as unknown,
    };
    expect(await outcomeOf(client, plant)).toMatchObject(
      message === undefined ? { name: 'a' } : expected,
    );
  });

  it('a redirect that a browser hides is unexpected-status with status 0', async () => {
    const opaque = { type: 'opaqueredirect', status: 0, body: null };
    const arrayBuffer = async () => new ArrayBuffer(0);
    const client = createTestClient(async () => untyped({ ...opaque, arrayBuffer }));
    const expected = { kind: 'unexpected-status', status: 0, body: '' };
    expect(await outcomeOf(client, plant)).toMatchObject(expected);
  });
});
