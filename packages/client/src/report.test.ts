import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import {
  createTestClient,
  errorOf,
  hostile,
  plant,
  rejecting,
  token,
  unendingBody,
  untyped,
} from '../test/fixtures.ts';
import { type ClientOptions, createClient, type Report } from './index.ts';

const headers = { 'X-Request-Id': 'id-1' };

describe('request id', () => {
  it.each([
    ['refused', 400, '{"error":1401,"message":"taken"}'],
    ['unexpected-status', 404, ''],
    ['response-invalid', 200, '<h1>'],
    ['timeout', 200, unendingBody().body],
    ['network', 200, new ReadableStream({ pull: (stream) => stream.error(new Error('reset')) })],
  ])('the request id is in the error %s, with the status', async (kind, status, body) => {
    const fetch = async () => new Response(body, { status, headers });
    const error = await errorOf(createTestClient(fetch, { attemptTimeoutMs: 50 }));
    expect(error).toMatchObject({ kind, status, requestId: 'id-1' });
  });

  it('the request id is in the error of a call that ends before its next attempt', async () => {
    const controller = new AbortController();
    const fetch = async () => new Response('', { status: 503, headers });
    const client = createTestClient(fetch, { retries: 1, onRetry: () => controller.abort() });
    const report = { attempts: 1, status: 503, requestId: 'id-1' };
    expect(await errorOf(client, controller.signal)).toMatchObject({ kind: 'aborted', ...report });
    const failing = createTestClient(async () => new Response('', { status: 401, headers }), {
      token: ({ refresh }) => (refresh ? untyped(undefined) : token),
    });
    const expected = { kind: 'token-failed', ...report, status: 401 };
    expect(await errorOf(failing)).toMatchObject(expected);
  });

  it('the request id and the status are not those of an earlier attempt', async () => {
    const responses = [new Response('', { status: 503, headers })];
    const fetch = async () => responses.shift() ?? rejecting('reset')();
    const error = await errorOf(createTestClient(fetch, { retries: 1, retryDelayMs: 0 }));
    expect(error).toEqual({
      kind: 'network',
      message: 'no response: reset',
      cause: { name: 'string', message: 'reset' },
      attempts: 2,
    });
  });

  it.each([
    ['have no get method', {}],
    ['return a number', { get: () => 7 }],
    ['return a promise that rejects', { get: rejecting('no') }],
    ['are missing', undefined],
  ])('the request id is omitted if the headers of the response %s', async (_, fields) => {
    const response = { status: 404, headers: fields, arrayBuffer: async () => new ArrayBuffer(0) };
    const error = await errorOf(createTestClient(async () => untyped(response)));
    expect(error).toMatchObject({ kind: 'unexpected-status', status: 404 });
    expect(error).not.toHaveProperty('requestId');
  });
});

it.each<[ClientOptions['fetch'], Report]>([
  [
    async () => new Response('{"name":"a"}', { headers }),
    { attempts: 1, status: 200, requestId: 'id-1' },
  ],
  [async () => new Response('', { status: 404 }), { attempts: 1, status: 404 }],
  [rejecting('no'), { attempts: 1 }],
])('onSettled receives the report of a call, also of a success: %#', async (fetch, expected) => {
  const reports: Report[] = [];
  const client = createClient({ baseUrl: 'http://127.0.0.1:9', token, fetch, retries: 0 });
  await client.createPlant(plant, { onSettled: (report) => reports.push(report) });
  expect(reports).toStrictEqual([expected]);
});

describe('message of a network error', () => {
  const refused = new Error('connect ECONNREFUSED 127.0.0.1:3000');
  const aggregated = new AggregateError([new Error('connect ECONNREFUSED ::1:3000'), refused]);

  it.each([
    ['a cause', new TypeError('fetch failed', { cause: refused })],
    ['causes', new TypeError('fetch failed', { cause: new Error('', { cause: refused }) })],
    ['an AggregateError', new TypeError('fetch failed', { cause: aggregated })],
    ['no cause', refused],
    ['a cause without a message', new Error(refused.message, { cause: new Error('') })],
    // HttpResponse.error() of msw makes fetch reject with such an error.
    ['a cause that is a response', new TypeError(refused.message, { cause: new Response() })],
    ['a cause whose message is no text', new TypeError(refused.message, { cause: { message: 7 } })],
    ['a cause that is a text', new TypeError('fetch failed', { cause: refused.message })],
  ])(
    'the message of a network error contains the message of the innermost cause: %s',
    async (_, thrown) => {
      const client = createTestClient(rejecting(thrown));
      expect((await errorOf(client))?.message).toBe(`no response: ${refused.message}`);
      // The options with which console.log prints a failed call.
      expect(inspect(await client.createPlant(plant), { depth: 2 })).toContain(refused.message);
    },
  );

  it('the message of a network error is not empty if no server listens', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', token, retries: 0 });
    expect((await errorOf(client))?.message).toMatch(/: .+/);
  });
});

describe('cause of a network error', () => {
  const causeOf = async (thrown: unknown) => {
    const error = await errorOf(createTestClient(rejecting(thrown)));
    return error?.kind === 'network' ? error.cause : undefined;
  };

  it('the cause has the name, message, code and causes of an error, at most four', async () => {
    const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    expect(await causeOf(new TypeError('fetch failed', { cause: reset }))).toEqual({
      name: 'TypeError',
      message: 'fetch failed',
      cause: { name: 'Error', message: 'reset', code: 'ECONNRESET' },
    });
    const circular: { message: string; cause?: unknown } = { message: 'again' };
    circular.cause = circular;
    const again = { name: 'object', message: 'again' };
    expect(await causeOf(circular)).toEqual({
      ...again,
      cause: { ...again, cause: { ...again, cause: again } },
    });
  });

  it.each([
    ['a string', 'a string', 'string', 'a string'],
    ['a bigint', 7n, 'bigint', '7'],
    ['null', null, 'object', 'null'],
    ['a symbol', Symbol('s'), 'symbol', 'Symbol(s)'],
    ['an object without a prototype', Object.create(null), 'object', 'a value without text'],
    ['an object with numbers', { message: 7, code: 20 }, 'object', '[object Object]'],
    ['a value whose members throw', hostile, 'function', expect.any(String) as unknown],
  ])(
    'a cause that is %s is described by its type and its text',
    async (_, thrown, name, message) => {
      expect(await causeOf(thrown)).toEqual({ name, message });
    },
  );

  it('the cause of another realm is described', async () => {
    const source = `async () => { throw new TypeError('failed', { cause: new AggregateError([new Error('reset')]) }); }`;
    const fetch = runInNewContext(source) as NonNullable<ClientOptions['fetch']>;
    expect(await errorOf(createTestClient(fetch))).toMatchObject({
      message: 'no response: reset',
      cause: { name: 'TypeError', cause: { name: 'AggregateError' } },
    });
  });
});
