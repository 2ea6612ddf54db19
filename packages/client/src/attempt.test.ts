import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  unendingBody,
  createTestClient,
  errorOf,
  hostile,
  never,
  plant,
  rejecting,
  throwing,
  token,
  untyped,
} from '../test/fixtures.ts';
import { startServer } from '../test/start-server.ts';
import { createClient } from './index.ts';
import { maxTextLength } from './redact.ts';

const plantBytes = async () => new TextEncoder().encode('{"name":"a"}').buffer;

describe('a request without a complete response', () => {
  it('a call without a listening server results in a network error', async () => {
    const error = await errorOf(createClient({ baseUrl: 'http://127.0.0.1:1', token, retries: 0 }));
    expect(error).toMatchObject({ kind: 'network', attempts: 1, cause: { name: 'TypeError' } });
    expect(error).not.toHaveProperty('status');
  });

  it('a connection that is lost during the body results in a network error with the status', async () => {
    const origin = await startServer((request, response) => {
      response.writeHead(200, { 'content-length': 99 });
      response.write('{"name":', () => request.socket.resetAndDestroy());
    });
    expect(await errorOf(createClient({ baseUrl: origin, token, retries: 0 }))).toMatchObject({
      kind: 'network',
      status: 200,
      attempts: 1,
    });
  });

  it('a connection that is closed before the response results in a network error', async () => {
    const origin = await startServer((request) => request.socket.destroy());
    expect(await errorOf(createClient({ baseUrl: origin, token, retries: 0 }))).toMatchObject({
      kind: 'network',
    });
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a string', 'a text'],
    ['an empty object', {}],
    ['a value whose members throw', hostile],
    ['a response with a string as its status', { status: '200', arrayBuffer: plantBytes }],
    ['a response with NaN as its status', { status: Number.NaN, arrayBuffer: plantBytes }],
    ['a response without a body', { status: 200 }],
    ['a response whose arrayBuffer is a string', { status: 200, arrayBuffer: async () => 'x' }],
  ])('a fetch that returns %s results in a network error', async (_, invalid) => {
    const expected = { kind: 'network', attempts: 1 };
    expect(await errorOf(createTestClient(async () => untyped(invalid)))).toMatchObject(expected);
    expect(await errorOf(createTestClient(() => untyped(invalid)))).toMatchObject(expected);
  });

  it.each(['getReader', 'releaseLock', 'cancel'])(
    'a call causes no unhandled rejection if %s of an injected body rejects, and other functions throw',
    async (member) => {
      const unhandled: unknown[] = [];
      const record = (reason: unknown) => unhandled.push(reason);
      process.on('unhandledRejection', record);
      const [cancel, releaseLock] = [throwing('no'), throwing('no')];
      const reader = { read: rejecting('no'), cancel, releaseLock };
      Reflect.set(reader, member, rejecting('no'));
      const getReader = member === 'getReader' ? rejecting('no') : () => reader;
      const fake = untyped({ status: 200, body: { getReader } });
      expect(await errorOf(createTestClient(async () => fake))).toMatchObject({ kind: 'network' });
      await new Promise(setImmediate);
      process.off('unhandledRejection', record);
      expect(unhandled).toEqual([]);
    },
  );

  it('a call cancels the body of an invalid response', async () => {
    const { body, cancelled } = unendingBody();
    const invalid = untyped({ status: 'no number', body });
    expect(await errorOf(createTestClient(async () => invalid))).toMatchObject({ kind: 'network' });
    await cancelled;
  });

  it.each([
    ['an error', new Error('broken')],
    ['a string', 'broken'],
    ['undefined', undefined],
    ['null', null],
    ['a value whose members throw', hostile],
  ])('a fetch that throws or rejects with %s results in a network error', async (_, thrown) => {
    const expected = { kind: 'network', attempts: 1 };
    expect(await errorOf(createTestClient(rejecting(thrown)))).toMatchObject(expected);
    expect(await errorOf(createTestClient(throwing(thrown)))).toMatchObject(expected);
  });

  it('a response without headers in time results in a timeout', async () => {
    const origin = await startServer(() => {});
    const client = createClient({ baseUrl: origin, token, retries: 0, attemptTimeoutMs: 50 });
    expect(await errorOf(client)).toEqual({
      kind: 'timeout',
      message: 'no response within 50 ms',
      phase: 'response',
      attempts: 1,
    });
  });

  it('a body that stalls results in a timeout with its status, with one limit for headers and body', async () => {
    // Timers of this process end in their order on a busy machine, too.
    let isLate = false;
    let late: NodeJS.Timeout | undefined;
    const fetch = async () => {
      late = setTimeout(() => (isLate = true), 1_100);
      await sleep(200);
      return new Response(unendingBody().body);
    };
    const error = await errorOf(createTestClient(fetch, { attemptTimeoutMs: 1_000 }));
    clearTimeout(late);
    expect(error).toMatchObject({ kind: 'timeout', status: 200 });
    expect(isLate).toBe(false);
  });

  it('an injected fetch that never settles results in a timeout', async () => {
    expect(await errorOf(createTestClient(never, { attemptTimeoutMs: 1 }))).toMatchObject({
      kind: 'timeout',
    });
  });
});

it('a call truncates an endless body, returns response-invalid and does not retry', async () => {
  const closed = Promise.withResolvers<undefined>();
  const baseUrl = await startServer((_request, response) => {
    const chunk = Buffer.alloc(2 ** 16, '"');
    const writeChunks = () => {
      while (response.write(chunk));
    };
    response.on('drain', writeChunks).on('close', () => closed.resolve(undefined));
    writeChunks();
  });
  const error = await errorOf(createClient({ baseUrl, token }));
  expect(error).toMatchObject({ kind: 'response-invalid', status: 200, attempts: 1 });
  expect(error).toHaveProperty('body', '"'.repeat(maxTextLength));
  await closed.promise;
});

it('a call ignores a response that arrives after the timeout of its attempt', async () => {
  const late = Promise.withResolvers<Response>();
  const { body, cancelled } = unendingBody();
  const headers = { 'Retry-After': '3600' };
  let sent = 0;
  const client = createTestClient(
    async () => {
      sent += 1;
      if (sent === 1) return late.promise;
      if (sent === 3) return new Response('{"name":"a"}');
      late.resolve(new Response(body, { status: 503, headers }));
      await cancelled;
      throw new TypeError('reset');
    },
    { retries: 3, retryDelayMs: 0, attemptTimeoutMs: 500 },
  );
  expect(await client.createPlant(plant)).toMatchObject({ value: { name: 'a' } });
});
