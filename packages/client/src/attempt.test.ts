import { describe, expect, it } from 'vitest';
import {
  abandonable,
  clientWith,
  errorOf,
  hostile,
  never,
  plant,
  rejecting,
  throwing,
  token,
  untyped,
} from '../test/fixtures.ts';
import { serve } from '../test/serve.ts';
import { createClient } from './index.ts';

describe('a request without a whole answer', () => {
  it('is a network error where nobody listens', async () => {
    const error = await errorOf(createClient({ baseUrl: 'http://127.0.0.1:1', token, retries: 0 }));
    expect(error).toMatchObject({ kind: 'network', attempts: 1, cause: { name: 'TypeError' } });
    expect(error).not.toHaveProperty('status');
  });

  it('is a network error with its status where the body breaks off midway', async () => {
    const origin = await serve((request, response) => {
      response.writeHead(200, { 'content-length': 99 });
      response.write('{"name":', () => request.socket.resetAndDestroy());
    });
    expect(await errorOf(createClient({ baseUrl: origin, token, retries: 0 }))).toMatchObject({
      kind: 'network',
      status: 200,
      attempts: 1,
    });
  });

  it('is a network error where the connection ends before the answer', async () => {
    const origin = await serve((request) => request.socket.destroy());
    expect(await errorOf(createClient({ baseUrl: origin, token, retries: 0 }))).toMatchObject({
      kind: 'network',
    });
  });

  it.each([
    undefined,
    null,
    'a text',
    {},
    hostile,
    { status: '200', arrayBuffer: async () => new TextEncoder().encode('{"name":"a"}').buffer },
    {
      status: Number.NaN,
      arrayBuffer: async () => new TextEncoder().encode('{"name":"a"}').buffer,
    },
    { status: 200 },
    { status: 200, arrayBuffer: async () => 'x' },
  ])('is a network error where fetch answers garbage (number %#)', async (garbage) => {
    const expected = { kind: 'network', attempts: 1 };
    expect(await errorOf(clientWith(async () => untyped(garbage)))).toMatchObject(expected);
    expect(await errorOf(clientWith(() => untyped(garbage)))).toMatchObject(expected);
  });

  it.each(['getReader', 'releaseLock', 'cancel'])(
    'leaves a rejection of %s handled, where a body is a fake',
    async (member) => {
      const unhandled: unknown[] = [];
      const note = (reason: unknown) => unhandled.push(reason);
      process.on('unhandledRejection', note);
      const reader = { read: rejecting('no'), cancel: () => {}, releaseLock: () => {} };
      Reflect.set(reader, member, rejecting('no'));
      const getReader = member === 'getReader' ? rejecting('no') : () => reader;
      const fake = untyped({ status: 200, body: { getReader } });
      expect(await errorOf(clientWith(async () => fake))).toMatchObject({ kind: 'network' });
      await new Promise(setImmediate);
      process.off('unhandledRejection', note);
      expect(unhandled).toEqual([]);
    },
  );

  it('cancels the body of garbage', async () => {
    const { body, cancelled } = abandonable();
    const garbage = untyped({ status: 'no number', body });
    expect(await errorOf(clientWith(async () => garbage))).toMatchObject({ kind: 'network' });
    await cancelled;
  });

  it.each([new Error('broken'), 'broken', undefined, null, hostile])(
    'is a network error where fetch throws or rejects (number %#)',
    async (thrown) => {
      const expected = { kind: 'network', attempts: 1 };
      expect(await errorOf(clientWith(rejecting(thrown)))).toMatchObject(expected);
      expect(await errorOf(clientWith(throwing(thrown)))).toMatchObject(expected);
    },
  );

  it('is a timeout where no headers come', async () => {
    const origin = await serve(() => {});
    const client = createClient({ baseUrl: origin, token, retries: 0, attemptTimeoutMs: 50 });
    expect(await errorOf(client)).toEqual({
      kind: 'timeout',
      message: 'no response within 50 ms',
      phase: 'response',
      attempts: 1,
    });
  });

  it('is a timeout with its status where the body stops halfway, headers and body counted together', async () => {
    const origin = await serve((_request, response) => {
      setTimeout(() => response.write('{"name":'), 300);
    });
    const client = createClient({ baseUrl: origin, token, retries: 0, attemptTimeoutMs: 500 });
    const start = performance.now();
    expect(await errorOf(client)).toMatchObject({ kind: 'timeout', status: 200 });
    expect(performance.now() - start).toBeLessThan(750);
  });

  it('is a timeout where an injected fetch never settles', async () => {
    expect(await errorOf(clientWith(never, { attemptTimeoutMs: 1 }))).toMatchObject({
      kind: 'timeout',
    });
  });
});

it('an answer that never stops is cut off as a breach of the contract, which is not asked for again', async () => {
  const closed = Promise.withResolvers<undefined>();
  const baseUrl = await serve((_request, response) => {
    const chunk = Buffer.alloc(2 ** 16, '"');
    const pour = () => {
      while (response.write(chunk));
    };
    response.on('drain', pour).on('close', () => closed.resolve(undefined));
    pour();
  });
  const error = await errorOf(createClient({ baseUrl, token }));
  const longest = 2 ** 20 + 6 * JSON.stringify({ ...plant, id: Number(plant.id) - 1 }).length;
  expect(error).toMatchObject({ kind: 'response-invalid', status: 200, attempts: 1 });
  expect(error).toHaveProperty('body', '"'.repeat(longest));
  await closed.promise;
});

it('an answer that comes after its attempt says nothing of the next one', async () => {
  const late = Promise.withResolvers<Response>();
  const { body, cancelled } = abandonable();
  const headers = { 'Retry-After': '3600' };
  let sent = 0;
  const client = clientWith(
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
