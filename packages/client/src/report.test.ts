import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  abandonable,
  clientWith,
  errorOf,
  never,
  plant,
  rejecting,
  token,
  untyped,
} from '../test/fixtures.ts';
import { type ClientOptions, createClient, type Report } from './index.ts';

const headers = { 'X-Request-Id': 'id-1' };

describe('the request id', () => {
  it.each([
    ['refused', 400, '{"error":1401,"message":"taken"}'],
    ['unexpected-status', 404, ''],
    ['response-invalid', 200, '<h1>'],
  ])('is in the error %s', async (kind, status, body) => {
    const error = await errorOf(clientWith(async () => new Response(body, { status, headers })));
    expect(error).toMatchObject({ kind, status, requestId: 'id-1' });
  });

  it('is in the error of a response that is incomplete', async () => {
    const { body } = abandonable();
    const client = clientWith(async () => new Response(body, { headers }), {
      attemptTimeoutMs: 20,
    });
    const answered = { status: 200, requestId: 'id-1' };
    expect(await errorOf(client)).toMatchObject({ kind: 'timeout', ...answered });
    const failing = new ReadableStream({
      pull: (stream) => stream.error(new Error('socket hang up')),
    });
    expect(await errorOf(clientWith(async () => new Response(failing, { headers })))).toMatchObject(
      {
        kind: 'network',
        message: 'incomplete response: socket hang up',
        ...answered,
      },
    );
  });

  it('is not that of an earlier attempt', async () => {
    let sent = 0;
    const client = clientWith(
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

  it.each([{}, { get: () => 7 }, { get: rejecting('no') }, undefined])(
    'is left out where it cannot be read (number %#)',
    async (fields) => {
      const response = {
        status: 404,
        headers: fields,
        arrayBuffer: async () => new ArrayBuffer(0),
      };
      const error = await errorOf(clientWith(async () => untyped(response)));
      expect(error).toMatchObject({ kind: 'unexpected-status', status: 404 });
      expect(error).not.toHaveProperty('requestId');
    },
  );

  it('does not show the token', async () => {
    const echo = { 'X-Request-Id': `id-${token}` };
    const response = async () => new Response('', { status: 404, headers: echo });
    expect(await errorOf(clientWith(response))).toMatchObject({ requestId: '***' });
  });
});

describe('onSettled', () => {
  const reportOf = async (fetch: ClientOptions['fetch']) => {
    const reports: Report[] = [];
    const client = createClient({ baseUrl: 'http://127.0.0.1:9', token, fetch, retries: 0 });
    await client.createPlant(plant, { onSettled: (report) => reports.push(report) });
    return reports;
  };

  it('receives the attempts, the status and the request id, of a success too', async () => {
    const ok = async () => new Response('{"name":"a"}', { headers });
    expect(await reportOf(ok)).toEqual([{ attempts: 1, status: 200, requestId: 'id-1' }]);
    const refused = async () => new Response('', { status: 404, headers });
    expect(await reportOf(refused)).toEqual([{ attempts: 1, status: 404, requestId: 'id-1' }]);
    const reports = await reportOf(rejecting('no'));
    expect(reports).toEqual([{ attempts: 1 }]);
    expect(reports[0]).not.toHaveProperty('status');
  });
});

describe('the message of a network error', () => {
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
    ['nothing else', refused],
    ['a cause without a message', new Error(refused.message, { cause: new Error('') })],
  ])('is the innermost one where there is %s', async (_, thrown) => {
    const error = await errorOf(clientWith(rejecting(thrown)));
    expect(error?.message).toBe('no response: connect ECONNREFUSED 127.0.0.1:3000');
    // As console.log prints a failed call.
    const client = clientWith(rejecting(thrown));
    expect(inspect(await client.createPlant(plant), { depth: 2 })).toContain(refused.message);
  });

  it('names the port at which no server listens', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', token, retries: 0 });
    const error = await errorOf(client);
    expect(error?.message).toMatch(/^no response: .+/);
  });

  it('does not show the token, in base64 either', async () => {
    for (const before of ['', 'a', 'ab', 'Bearer ', 'user:']) {
      for (const encoding of ['base64', 'base64url'] as const) {
        const encoded = Buffer.from(`${before}${token}`).toString(encoding);
        const error = await errorOf(clientWith(rejecting(new Error(`sent ${encoded}, no answer`))));
        expect(error?.message).toBe('no response: sent ***, no answer');
      }
    }
  });
});

describe('the message of a wrong option', () => {
  it.each<[Partial<ClientOptions>, unknown, string]>([
    [{ baseUrl: 'ftp://a' }, 7, 'baseUrl must be an absolute http(s) URL without user info'],
    [{ fetch: untyped(7) }, 7, 'fetch must be a function'],
    [{ token: 'two words' }, 7, 'token must be an RFC 6750 b64token'],
    [{}, 2 ** 53, 'id must be a bigint in int64 range, or a safe integer'],
  ])('names the option and its rule (number %#)', async (options, id, message) => {
    const created = await clientWith(never, options).createPlant({ id: untyped(id), name: 'a' });
    expect(created._unsafeUnwrapErr().message).toContain(message);
  });
});

describe('the limits of a call', () => {
  it('replace those of the client', async () => {
    const broken = clientWith(rejecting('no'), { retries: 5, retryDelayMs: 0 });
    const reports: Report[] = [];
    const onSettled = (report: Report) => reports.push(report);
    await broken.createPlant(plant, { retries: 1, onSettled });
    await broken.createPlant(plant, { retries: untyped('1'), onSettled });
    expect(reports.map(({ attempts }) => attempts)).toEqual([2, 6]);
    const silent = clientWith(never);
    const inAttempt = await silent.createPlant(plant, { attemptTimeoutMs: 20 });
    expect(inAttempt._unsafeUnwrapErr().message).toBe('no response within 20 ms');
    const inAll = await silent.createPlant(plant, { timeoutMs: 21, attemptTimeoutMs: 0 });
    expect(inAll._unsafeUnwrapErr().message).toBe('no response within 21 ms');
  });
});
