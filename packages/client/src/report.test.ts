import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  unendingBody,
  createTestClient,
  errorOf,
  never,
  plant,
  rejecting,
  token,
  untyped,
} from '../test/fixtures.ts';
import { type ClientOptions, createClient, type Report } from './index.ts';

const headers = { 'X-Request-Id': 'id-1' };

describe('request id', () => {
  it.each([
    ['refused', 400, '{"error":1401,"message":"taken"}'],
    ['unexpected-status', 404, ''],
    ['response-invalid', 200, '<h1>'],
  ])('the request id is in the error %s', async (kind, status, body) => {
    const error = await errorOf(
      createTestClient(async () => new Response(body, { status, headers })),
    );
    expect(error).toMatchObject({ kind, status, requestId: 'id-1' });
  });

  it('the request id is in the error of an incomplete response', async () => {
    const { body } = unendingBody();
    const client = createTestClient(async () => new Response(body, { headers }), {
      attemptTimeoutMs: 20,
    });
    const report = { status: 200, requestId: 'id-1' };
    expect(await errorOf(client)).toMatchObject({ kind: 'timeout', ...report });
    const failing = new ReadableStream({
      pull: (stream) => stream.error(new Error('socket hang up')),
    });
    expect(
      await errorOf(createTestClient(async () => new Response(failing, { headers }))),
    ).toMatchObject({
      kind: 'network',
      message: expect.stringContaining('socket hang up') as unknown,
      ...report,
    });
  });

  it('the request id is in the error of a call that is aborted before its next attempt', async () => {
    const controller = new AbortController();
    const client = createTestClient(async () => new Response('', { status: 503, headers }), {
      retries: 1,
      onRetry: () => controller.abort(),
    });
    expect(await errorOf(client, controller.signal)).toMatchObject({
      kind: 'aborted',
      attempts: 1,
      status: 503,
      requestId: 'id-1',
    });
  });

  it('the request id is in the error of a call that gets no new token after a 401', async () => {
    const refuse = async () => new Response('', { status: 401, headers });
    const report = { attempts: 1, status: 401, requestId: 'id-1' };
    const failing = createTestClient(refuse, {
      token: ({ refresh }) => (refresh ? untyped(undefined) : token),
    });
    expect(await errorOf(failing)).toMatchObject({ kind: 'token-failed', ...report });
    const controller = new AbortController();
    const waiting = createTestClient(refuse, {
      token: async ({ refresh }) => {
        if (!refresh) return token;
        controller.abort();
        return new Promise(() => {});
      },
    });
    expect(await errorOf(waiting, controller.signal)).toMatchObject({ kind: 'aborted', ...report });
  });

  it('the request id is not that of an earlier attempt', async () => {
    let sent = 0;
    const client = createTestClient(
      async () => {
        sent += 1;
        if (sent > 1) throw new Error('reset');
        return new Response('', { status: 503, headers });
      },
      { retries: 1, retryDelayMs: 0 },
    );
    const error = await errorOf(client);
    expect(error).toMatchObject({ kind: 'network', attempts: 2 });
    expect(error).not.toHaveProperty('requestId');
    expect(error).not.toHaveProperty('status');
  });

  it.each([
    ['have no get method', {}],
    ['return a number', { get: () => 7 }],
    ['return a promise that rejects', { get: rejecting('no') }],
    ['are missing', undefined],
  ])('the request id is omitted if the headers of the response %s', async (_, fields) => {
    const response = {
      status: 404,
      headers: fields,
      arrayBuffer: async () => new ArrayBuffer(0),
    };
    const error = await errorOf(createTestClient(async () => untyped(response)));
    expect(error).toMatchObject({ kind: 'unexpected-status', status: 404 });
    expect(error).not.toHaveProperty('requestId');
  });

  it('the request id is redacted if it contains the token', async () => {
    const echo = { 'X-Request-Id': `id-${token}` };
    const response = async () => new Response('', { status: 404, headers: echo });
    expect(await errorOf(createTestClient(response))).toMatchObject({ requestId: '***' });
  });
});

it.each<[string, number | undefined]>([
  ['90', 90_000],
  ['0', 0],
  ['Sun, 06 Nov 1994 08:49:38 GMT', 1_000],
  ['soon', undefined],
  ['Sun, 06 Nov 1994 08:49:36 GMT', 0],
])('the Retry-After %s is in the error as %s ms', async (retryAfter, retryAfterMs) => {
  const fields = { 'Retry-After': retryAfter, Date: 'Sun, 06 Nov 1994 08:49:37 GMT' };
  const response = async () => new Response('', { status: 503, headers: fields });
  expect((await errorOf(createTestClient(response)))?.retryAfterMs).toBe(retryAfterMs);
});

describe('onSettled', () => {
  const reportOf = async (fetch: ClientOptions['fetch']) => {
    const reports: Report[] = [];
    const client = createClient({ baseUrl: 'http://127.0.0.1:9', token, fetch, retries: 0 });
    await client.createPlant(plant, { onSettled: (report) => reports.push(report) });
    return reports;
  };

  it('onSettled receives the attempts, the status and the request id, also of a success', async () => {
    const ok = async () => new Response('{"name":"a"}', { headers });
    expect(await reportOf(ok)).toEqual([{ attempts: 1, status: 200, requestId: 'id-1' }]);
    const refused = async () => new Response('', { status: 404, headers });
    expect(await reportOf(refused)).toEqual([{ attempts: 1, status: 404, requestId: 'id-1' }]);
    const reports = await reportOf(rejecting('no'));
    expect(reports).toEqual([{ attempts: 1 }]);
    expect(reports[0]).not.toHaveProperty('status');
  });
});

describe('message of a network error', () => {
  const refused = new Error('connect ECONNREFUSED 127.0.0.1:3000');

  it.each([
    ['a cause', new TypeError('fetch failed', { cause: refused })],
    ['causes', new TypeError('fetch failed', { cause: new Error('', { cause: refused }) })],
    [
      'an AggregateError',
      new TypeError('fetch failed', {
        cause: new AggregateError([new Error('connect ECONNREFUSED ::1:3000'), refused]),
      }),
    ],
    ['no cause', refused],
    ['a cause without a message', new Error(refused.message, { cause: new Error('') })],
    // HttpResponse.error() of msw makes fetch reject with such an error.
    ['a cause that is a response', new TypeError(refused.message, { cause: new Response() })],
    ['a cause that is a number', new TypeError(refused.message, { cause: 404 })],
    ['a cause whose message is no text', new TypeError(refused.message, { cause: { message: 7 } })],
    ['a cause that is a text', new TypeError('fetch failed', { cause: refused.message })],
  ])(
    'the message of a network error contains the message of the innermost cause: %s',
    async (_, thrown) => {
      const error = await errorOf(createTestClient(rejecting(thrown)));
      expect(error?.message).toMatch(/: connect ECONNREFUSED 127\.0\.0\.1:3000$/);
      // The options with which console.log prints a failed call.
      const client = createTestClient(rejecting(thrown));
      expect(inspect(await client.createPlant(plant), { depth: 2 })).toContain(refused.message);
    },
  );

  it('the message of a network error describes a cause without a text', async () => {
    const error = await errorOf(createTestClient(rejecting({})));
    expect(error?.message).toBe('no response: [object Object]');
  });

  it('the message of a network error is not empty if no server listens', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', token, retries: 0 });
    const error = await errorOf(client);
    expect(error?.message).toMatch(/: .+/);
  });
});

describe('message of an invalid option', () => {
  it.each<[string, Partial<ClientOptions>, unknown]>([
    ['baseUrl must be an absolute http(s) URL without user info', { baseUrl: 'ftp://a' }, 7],
    ['fetch must be a function', { fetch: untyped(7) }, 7],
    ['headers must be valid fields', { headers: untyped(7) }, 7],
    ['token must be an RFC 6750 b64token', { token: 'two words' }, 7],
    ['id must be a bigint in int64 range, or a safe integer', {}, 2 ** 53],
  ])(
    'the message of an invalid argument names the argument and its rule: %s',
    async (message, options, id) => {
      const created = await createTestClient(never, options).createPlant({
        id: untyped(id),
        name: 'a',
      });
      expect(created._unsafeUnwrapErr().message).toContain(message);
    },
  );
});

describe('the limits of a call', () => {
  it('the time limits and retries of a call override those of the client', async () => {
    const broken = createTestClient(rejecting('no'), { retries: 5, retryDelayMs: 0 });
    const reports: Report[] = [];
    const onSettled = (report: Report) => reports.push(report);
    await broken.createPlant(plant, { retries: 1, onSettled });
    await broken.createPlant(plant, { retries: untyped('1'), onSettled });
    expect(reports.map(({ attempts }) => attempts)).toEqual([2, 6]);
    const silent = createTestClient(never);
    const inAttempt = await silent.createPlant(plant, { attemptTimeoutMs: 20 });
    expect(inAttempt._unsafeUnwrapErr().message).toContain('20 ms');
    const inAll = await silent.createPlant(plant, { timeoutMs: 21, attemptTimeoutMs: 0 });
    expect(inAll._unsafeUnwrapErr().message).toContain('21 ms');
  });
});
