import { Readable } from 'node:stream';
import { createContext, runInContext } from 'node:vm';
import { createMemoryRepository } from '@plantstore/core';
import { recordLog } from '@plantstore/test-support/record-log';
import { describe, expect, it } from 'vitest';
import { createFetchHandler, type FetchHandlerOptions } from './create-fetch-handler.ts';
import type { FetchRequest } from './fetch-request.ts';

const monstera = Buffer.from('{"id":7,"name":"Monstera"}');
const url = 'http://plants.test/plants';
const headers = { Authorization: 'Bearer good', 'Content-Type': 'application/json' };

/** Serves a request that is no `Request`, as adapters make them, and returns its status and its log. */
const serve = async (more: Partial<FetchRequest>, options: Partial<FetchHandlerOptions> = {}) => {
  const { logged, logger } = recordLog();
  const handler = createFetchHandler({
    repository: createMemoryRepository(),
    authenticate: (token) => token === 'good',
    maxBodyBytes: 1_000,
    logger,
    ...options,
  });
  const body = new Blob([monstera]).stream();
  const request = { url, method: 'POST', headers: new Headers(headers), bodyUsed: false, body };
  const response = await handler({ ...request, ...more });
  return { status: response.status, logged };
};

const stalled = { next: () => new Promise(() => {}) };
const iterable = (iterator: object) => ({ [Symbol.asyncIterator]: () => iterator });
const failing = async function* () {
  yield monstera.subarray(0, 5);
  await Promise.reject(new Error('no'));
};

describe('a request that is no Request', () => {
  it.each<[string, status: number, Partial<FetchRequest>]>([
    ['without a signal', 200, {}],
    ['whose signal is null', 200, { signal: null }],
    ['whose body never arrives', 408, { body: new ReadableStream() }],
    ['whose body is bytes (node-fetch 2)', 200, { body: monstera }],
    ['whose body is a stream of Node', 200, { body: Readable.from([monstera]) }],
    ['whose body is an iterator', 200, { body: iterable(Readable.from([monstera]).iterator()) }],
    ['whose stream of Node is too large', 413, { body: Readable.from([Buffer.alloc(1_001)]) }],
    ['whose stream of Node fails', 400, { body: Readable.from(failing()) }],
    ['whose iterator never returns', 408, { body: iterable(stalled) }],
    [
      'whose iterator never returns and cannot be cancelled',
      408,
      { body: iterable({ ...stalled, return: () => Promise.reject(new Error('no')) }) },
    ],
    [
      'whose iterator returns empty chunks forever',
      408,
      { body: iterable({ next: async () => ({ value: new Uint8Array() }) }) },
    ],
    ['whose body is null', 400, { body: null }],
    ['whose body was read and is null', 500, { body: null, bodyUsed: true }],
    ['whose body is an object', 500, { body: {} }],
    ['whose body is a text', 500, { body: monstera.toString() as unknown as object }],
    ['whose body is undefined', 500, { body: undefined as unknown as null }],
  ])('a request that is no Request, %s, gets %s', async (_, status, request) => {
    expect((await serve(request, { requestTimeoutMs: 20 })).status).toBe(status);
  });

  it('a request whose signal cannot be read is refused for its URL', async () => {
    const request = {
      url: 'http://u@plants.test/plants',
      get signal(): AbortSignal {
        throw new TypeError('the URL includes credentials');
      },
    };
    const body = new Blob([monstera]).stream();
    const rest = { method: 'POST', headers: new Headers(headers), bodyUsed: false, body };
    const authenticate = () => true;
    const handler = createFetchHandler({ repository: createMemoryRepository(), authenticate });
    expect((await handler(Object.assign(request, rest))).status).toBe(400);
  });

  it('a stream of Node that never ends is destroyed after a timeout', async () => {
    const body = new Readable({ read() {} });
    expect((await serve({ body }, { requestTimeoutMs: 20 })).status).toBe(408);
    expect(body.destroyed).toBe(true);
  });
});

describe('values of another realm', () => {
  const inRealm = (code: string): unknown => runInContext(code, createContext({}));

  it('a URL of another realm is a URL', async () => {
    const other = { href: url, toString: () => url } as unknown as URL;
    const authenticate = () => true;
    const handler = createFetchHandler({ repository: createMemoryRepository(), authenticate });
    const init = { method: 'POST', headers, body: monstera };
    expect((await handler(other, init)).status).toBe(200);
  });

  it('chunks of another realm are bytes', async () => {
    const toBytes = inRealm('(list) => Uint8Array.from(list)') as (list: number[]) => Uint8Array;
    const body = iterable([toBytes([...monstera])][Symbol.iterator]());
    expect((await serve({ body })).status).toBe(200);
  });

  it('promises of another realm are awaited, of authenticate and of a logger', async () => {
    const authenticate = inRealm('async () => ({ tokenName: "ci" })') as () => Promise<boolean>;
    expect((await serve({}, { authenticate })).logged).toMatchObject([{ tokenName: 'ci' }]);
    // An unhandled rejection fails the run.
    const fail = inRealm('async () => { throw new Error("no") }') as () => void;
    const logger = { info: fail, warn: fail, error: fail };
    expect((await serve({}, { logger })).status).toBe(200);
  });

  it('an error of another realm is logged with its message and its causes', async () => {
    const create = inRealm(
      '() => { throw new AggregateError([new TypeError("a bug")], "many") }',
    ) as () => never;
    const { status, logged } = await serve({}, { repository: { create } });
    expect(status).toBe(500);
    const cause = expect.stringMatching(/AggregateError: many\n[^]*caused by: TypeError: a bug\n/);
    expect(logged).toMatchObject([{ cause: cause as unknown }]);
  });
});
