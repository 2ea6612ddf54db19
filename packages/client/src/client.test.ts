import { afterEach, describe, expect, it, vi } from 'vitest';
import { respondWith, createTestClient, hostile, plant, token, untyped } from '../test/fixtures.ts';
import { startServer } from '../test/start-server.ts';
import { createClient } from './index.ts';

const monstera = { id: 9007199254740993n, name: 'Monstera', tag: 'climber' };

const outcomeOf = async (created: ReturnType<ReturnType<typeof createClient>['createPlant']>) =>
  created.match<unknown>(
    (value) => value,
    (error) => error,
  );

const create = async (baseUrl: string, newPlant = plant) =>
  outcomeOf(createClient({ baseUrl, token }).createPlant(newPlant));

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
        request.on('end', () => response.end('{"name":"Monstera","tag":"climber"}'));
      });
      expect(await create(origin + path, monstera)).toEqual({ name: 'Monstera', tag: 'climber' });
      expect(seen).toEqual([
        'POST',
        `${path.replace(/\/$/, '')}/plants`,
        `Bearer ${token}`,
        'application/json',
        '{"id":9007199254740993,"name":"Monstera","tag":"climber"}',
      ]);
    },
  );

  it('createClient sends two header fields and calls fetch without a this', async () => {
    const calls: unknown[] = [];
    const client = createTestClient(function fetch(this: unknown, url, { signal, ...init }) {
      calls.push(this, url, init, signal?.aborted);
      return Promise.resolve(new Response('{"name":"Monstera","tag":"climber"}'));
    });
    expect(await outcomeOf(client.createPlant(monstera))).toEqual({
      name: 'Monstera',
      tag: 'climber',
    });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = '{"id":9007199254740993,"name":"Monstera","tag":"climber"}';
    expect(calls).toEqual([
      undefined,
      'http://127.0.0.1:9/plants',
      { method: 'POST', headers, body, redirect: 'manual' },
      false,
    ]);
  });

  it('createClient looks up globalThis.fetch at each call', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:9', token });
    vi.stubGlobal('fetch', async () => new Response('{"name":"patched"}'));
    expect(await outcomeOf(client.createPlant({ id: 7, name: 'patched' }))).toEqual({
      name: 'patched',
    });
    vi.stubGlobal('fetch', undefined);
    expect(await outcomeOf(client.createPlant(plant))).toMatchObject({
      kind: 'request-invalid',
      reason: 'fetch-invalid',
      attempts: 0,
    });
  });

  it.each(['TextDecoder', 'AbortController'])(
    'createClient returns fetch-invalid and names %s if the runtime lacks it, and sends nothing',
    async (name) => {
      const fetch = vi.fn<() => Promise<Response>>();
      const client = createTestClient(fetch);
      vi.stubGlobal(name, undefined);
      expect(await outcomeOf(client.createPlant(plant))).toMatchObject({
        kind: 'request-invalid',
        reason: 'fetch-invalid',
        message: expect.stringContaining(name) as unknown,
        attempts: 0,
      });
      expect(fetch).not.toHaveBeenCalled();
    },
  );

  it('createClient returns fetch-invalid for a fetch that is not a function', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:9', token, fetch: untyped('x') });
    expect(await outcomeOf(client.createPlant(plant))).toMatchObject({
      kind: 'request-invalid',
      reason: 'fetch-invalid',
    });
  });

  it('createClient accepts the response for a large plant, with every character escaped', async () => {
    const name = 'é'.repeat(600_000);
    const escaped = `{"name":"${String.raw`\u00e9`.repeat(600_000)}"}`;
    const client = createClient({ baseUrl: await startServer(respondWith(200, escaped)), token });
    expect(await outcomeOf(client.createPlant({ id: 7, name }))).toEqual({ name });
  });

  it('createClient returns response-invalid for a 200 with malformed JSON or another plant', async () => {
    const damaged = Buffer.from('{"name":"caf\xe9"}', 'latin1');
    for (const body of [damaged, '{"name":"Ficus"}', '{"name":"caf\u00e9","tag":""}']) {
      const baseUrl = await startServer((request, response) => {
        request.resume().on('end', () => response.end(body));
      });
      const client = createClient({ baseUrl, token });
      const expected = { kind: 'response-invalid', status: 200, attempts: 1 };
      for (const id of [7, 7n, 9007199254740993n]) {
        const created = client.createPlant({ id, name: 'caf\u00e9' });
        expect(await outcomeOf(created)).toMatchObject(expected);
      }
    }
  });

  it('createClient reads its options once, and the plant before createPlant returns', async () => {
    const options = { baseUrl: await startServer(respondWith(200, '{"name":"a"}')), token };
    const client = createClient(options);
    options.baseUrl = 'nowhere';
    options.token = '';
    const newPlant = { id: 7, name: 'a' };
    const creating = client.createPlant(newPlant);
    newPlant.id = 0.5;
    expect(await outcomeOf(creating)).toEqual({ name: 'a' });
  });

  it('createClient returns the error of the service', async () => {
    const body = '{"error":1401,"message":"another plant has this id"}';
    expect(await create(await startServer(respondWith(400, body)))).toEqual({
      kind: 'refused',
      name: 'id-taken',
      error: 1401,
      message: 'another plant has this id',
      status: 400,
      attempts: 1,
    });
  });

  it.each([200, 400])(
    'createClient returns response-invalid for HTML with status %i',
    async (status) => {
      const body = '<h1>Welcome</h1>';
      expect(await create(await startServer(respondWith(status, body)))).toMatchObject({
        kind: 'response-invalid',
        status,
        body,
      });
    },
  );

  it.each([301, 302, 303, 307, 308])(
    'createClient does not follow a redirect with status %i',
    async (status) => {
      const redirected: unknown[] = [];
      const target = await startServer((request, response) => {
        redirected.push(request.headers);
        response.end('{"name":"stolen"}');
      });
      const origin = await startServer(
        respondWith(status, 'moved', { location: `${target}/plants` }),
      );
      expect(await create(origin)).toMatchObject({
        kind: 'unexpected-status',
        message: `unexpected response with status ${status} to ${target}/plants`,
        status,
        body: 'moved',
        attempts: 1,
      });
      expect(redirected).toEqual([]);
    },
  );

  it('createClient returns response-invalid for a plant after a redirect that fetch followed', async () => {
    const followed = { status: 200, redirected: true, arrayBuffer: async () => plantBytes };
    const plantBytes = new TextEncoder().encode('{"name":"a"}').buffer;
    const client = createTestClient(async () => untyped(followed));
    expect(await outcomeOf(client.createPlant(plant))).toMatchObject({
      kind: 'response-invalid',
      message: 'unexpected response with status 200: its URL is not what was sent',
    });
  });

  it.each([
    ['another URL', 'http://127.0.0.1:9/elsewhere', undefined, 'response-invalid'],
    ['the URL of the request', 'http://127.0.0.1:9/plants', undefined, 'ok'],
    ['no URL', undefined, undefined, 'ok'],
    ['an empty URL', '', undefined, 'ok'],
    ['another URL, but did not follow a redirect', 'http://127.0.0.1:9/elsewhere', false, 'ok'],
  ])(
    'createClient compares the URL of a response that does not report redirects, as in React Native: it has %s',
    async (_, url, redirected, outcome) => {
      const arrayBuffer = async () => new TextEncoder().encode('{"name":"a"}').buffer;
      const response = untyped({ status: 200, url, redirected, arrayBuffer });
      const created = await createTestClient(async () => response).createPlant(plant);
      expect(created.isOk() ? 'ok' : created.error.kind).toBe(outcome);
    },
  );

  it('createClient returns unexpected-status with status 0 for a redirect that a browser hides', async () => {
    const opaque = {
      type: 'opaqueredirect',
      status: 0,
      body: null,
      arrayBuffer: async () => new ArrayBuffer(0),
    };
    expect(
      await outcomeOf(createTestClient(async () => untyped(opaque)).createPlant(plant)),
    ).toMatchObject({ kind: 'unexpected-status', status: 0, body: '' });
  });

  it.each([
    ['base-url-invalid', { baseUrl: 'nowhere' }, plant, undefined],
    ['id-not-exact', {}, { ...plant, id: 2 ** 53 }, undefined],
    ['plant-unwritable', {}, hostile, undefined],
    ['signal-invalid', {}, plant, { signal: {} }],
  ])('createPlant returns %s for an invalid argument, and sends nothing', async (...row) => {
    const [reason, options, newPlant, callOptions] = row;
    const fetch = vi.fn<() => Promise<Response>>();
    const created = createTestClient(fetch, options).createPlant(
      untyped(newPlant),
      untyped(callOptions),
    );
    expect(await outcomeOf(created)).toMatchObject({
      kind: 'request-invalid',
      reason,
      attempts: 0,
    });
    expect(fetch).not.toHaveBeenCalled();
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a number', 7],
    ['an empty object', {}],
    ['a value whose members throw', hostile],
  ])('a client whose options are %s returns an error for each call', async (_, options) => {
    const created = createClient(untyped(options)).createPlant(untyped(options));
    expect(await outcomeOf(created)).toMatchObject({ kind: 'request-invalid', attempts: 0 });
  });

  it('createClient omits an invalid token from the request and from the error', async () => {
    const fetch = vi.fn<() => Promise<Response>>();
    const created = createTestClient(fetch, { token: 'secret\r\nX-Evil: 1' }).createPlant(plant);
    const error = await outcomeOf(created);
    expect(error).toMatchObject({ kind: 'token-failed', attempts: 0 });
    expect(JSON.stringify(error)).not.toContain('secret');
    expect(fetch).not.toHaveBeenCalled();
  });
});
