import { describe, expect, it } from 'vitest';
import {
  createTestClient,
  errorOf,
  hostile,
  never,
  plant,
  token,
  untyped,
} from '../test/fixtures.ts';
import type { ClientOptions, CreatePlantOptions, FetchInit, RequestHeaders } from './index.ts';

const own = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

/** Returns the headers of each request of a call that succeeds at its last attempt. */
const headersOf = async (
  options: Partial<ClientOptions>,
  callOptions?: CreatePlantOptions,
  statuses = [200],
) => {
  const sent: FetchInit['headers'][] = [];
  const client = createTestClient(async (_url, init) => {
    sent.push(init.headers);
    return new Response('{"name":"a"}', { status: statuses[sent.length - 1] ?? 200 });
  }, options);
  expect((await client.createPlant(plant, callOptions)).isOk()).toBe(true);
  return sent;
};

describe('headers', () => {
  // `constructor` is the name of a member of every object, too.
  const trace = { traceparent: '00-1-2-01', constructor: 'a' };

  it.each<[string, RequestHeaders]>([
    ['an object', trace],
    ['a function that returns an object', () => trace],
    ['an async function', async () => trace],
    ['Headers', new Headers(trace)],
    ['a function that returns Headers', () => new Headers(trace)],
  ])('headers of the client and of a call may be %s', async (_, headers) => {
    expect(await headersOf({ headers })).toEqual([{ ...own, ...trace }]);
    expect(await headersOf({}, { headers })).toEqual([{ ...own, ...trace }]);
  });

  it('headers of a call replace those of the client, in any case, but never Authorization and Content-Type', async () => {
    const ignored = { authorization: 'Basic YTpi', 'CONTENT-TYPE': 'text/plain' };
    const headers = { 'X-Key': 'client', 'x-other': 'client', ...ignored };
    const call = { 'x-key': 'call', ...ignored };
    const sent = await headersOf({ headers: () => headers }, { headers: call });
    expect(sent).toEqual([{ ...own, 'x-key': 'call', 'x-other': 'client' }]);
  });

  it('a function that returns headers is called once for a call, with any number of attempts', async () => {
    let calls = 0;
    const headers = () => ({ 'x-calls': `${++calls}` });
    const sent = await headersOf({ headers, retries: 2, retryDelayMs: 0 }, {}, [503, 503, 200]);
    expect(sent.map((fields) => fields['x-calls'])).toEqual(['1', '1', '1']);
  });

  it('headers of a call are read before it returns', async () => {
    const headers = { 'x-key': 'before' };
    const client = createTestClient(async (_url, init) => {
      expect(init.headers['x-key']).toBe('before');
      return new Response('{"name":"a"}');
    });
    const creating = client.createPlant(plant, { headers });
    headers['x-key'] = 'after';
    expect((await creating).isOk()).toBe(true);
  });

  it.each([
    ['a number', 7, 'TypeError'],
    ['a string', 'a', 'TypeError'],
    ['a value whose members throw', hostile, 'Error'],
    ['an object with an invalid name', { 'not a name': 'a' }, 'not a name'],
    ['an object with a line break in a value', { 'x-key': 'two\nlines' }, 'x-key'],
    ['a function that returns a number', () => 7, 'TypeError'],
    ['a function that returns a value whose members throw', () => hostile, 'Error'],
    ['a function that throws', () => JSON.parse('{') as object, 'SyntaxError'],
    ['a function that rejects', () => Promise.reject(new Error('secret')), 'Error'],
    ['a function that returns U+0000', async () => ({ 'x-key': '\0' }), 'x-key'],
  ])(
    'headers that are %s result in headers-invalid with the field or the cause, and nothing is sent',
    async (_, headers, reason) => {
      const isError = reason.endsWith('Error');
      const expected = {
        kind: 'request-invalid',
        reason: 'headers-invalid',
        message: expect.stringMatching(/^headers must be valid fields: ./) as unknown,
        attempts: 0,
        cause: isError
          ? { name: reason, message: expect.any(String) as unknown }
          : { name: 'string', message: reason },
      };
      for (const [options, callOptions] of [
        [{}, { headers: untyped(headers) }],
        [{ headers: untyped(headers) }, {}],
      ]) {
        const client = createTestClient(() => Promise.reject(new Error('was called')), options);
        const created = await client.createPlant(plant, callOptions);
        expect(created._unsafeUnwrapErr()).toEqual(expected);
      }
    },
  );

  it.each([undefined, null])('a header field whose value is %s is omitted', async (value) => {
    const headers = { 'x-key': value, 'x-other': 'a' };
    expect(await headersOf({ headers }, { headers: () => headers })).toEqual([
      { ...own, 'x-other': 'a' },
    ]);
  });

  it('a headers function that never settles results in a timeout in its phase', async () => {
    const headers = untyped(never);
    const client = createTestClient(never, { headers, timeoutMs: 50 });
    expect(await errorOf(client)).toEqual({
      kind: 'timeout',
      phase: 'request-headers',
      message: expect.stringContaining('request-headers') as unknown,
      attempts: 0,
    });
  });
});
