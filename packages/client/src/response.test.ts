import { runInNewContext } from 'node:vm';
import { similarPlants } from '@plantstore/test-support/contract-plants';
import { describe, expect, it } from 'vitest';
import {
  createTestClient,
  errorOf,
  hostile,
  plant,
  rejecting,
  throwing,
  token,
  unendingBody,
  untyped,
} from '../test/fixtures.ts';
import { startServer } from '../test/start-server.ts';
import { type ClientOptions, createClient } from './index.ts';
import { maxTextLength } from './redact.ts';

/** Returns the outcome for a response to the create of a plant. */
const outcomeOf = async (status: number, text: string, sent: object = { name: 'Monstera' }) => {
  const response = untyped({ status, arrayBuffer: async () => Buffer.from(text) });
  const client = createTestClient(async () => response);
  return client.createPlant(untyped({ id: 9007199254740993n, ...sent })).match<unknown>(
    (created) => created,
    (error) => error,
  );
};

describe('a 200', () => {
  it.each([
    ['{"name":"Monstera"}', { name: 'Monstera' }],
    ['{"name":"","tag":""}', { name: '', tag: '' }],
    ['{"name":"a","tag":"b","id":7,"__proto__":{"tag":7}}', { name: 'a', tag: 'b' }],
    [`{"name":"${token}"}`, { name: token }],
  ])('a 200 with %s is the plant without other members', async (body, sent) => {
    expect(await outcomeOf(200, body, sent)).toStrictEqual(sent);
  });

  it('a 200 with a plant that a store may confuse with the plant that was sent is response-invalid', async () => {
    for (const [one, other] of similarPlants.filter((_, index) => index % 5 === 0)) {
      const kept: unknown = JSON.parse(JSON.stringify(one));
      expect(await outcomeOf(200, JSON.stringify(one), one)).toStrictEqual(kept);
      const error = await outcomeOf(200, JSON.stringify(other), one);
      expect(error).toMatchObject({ kind: 'response-invalid' });
    }
  });

  it.each<[string, string, object]>([
    ['name', '{"name":"monstera"}', { name: 'Monstera' }],
    ['name', '{"name":"\u0065\u0301"}', { name: '\u00e9' }],
    ['tag', '{"name":"Monstera","tag":""}', { name: 'Monstera' }],
    ['tag', '{"name":"Monstera"}', { name: 'Monstera', tag: 'b' }],
    // A client without types may send these.
    ['name', '{"name":7}', { name: 7 }],
    ['tag', '{"name":"Monstera","tag":null}', { name: 'Monstera', tag: null }],
    ['name', '{"name":"7"}', { name: 7 }],
    ['name', '{}', {}],
    ['name', '{"error":1401,"message":"another plant has this id"}', { name: 'a' }],
    ['name', '<!doctype html>', { name: 'a' }],
    ['name', '{"name":"a"', { name: 'a' }],
    ['name', 'null', { name: 'a' }],
    ['name', '"name"', { name: 'a' }],
    ['name', '["a"]', { name: 'a' }],
    ['name', '['.repeat(4_000), { name: 'a' }],
  ])(
    'a 200 whose %s differs is response-invalid, with the raw body: %s after %o',
    async (name, body, sent) => {
      expect(await outcomeOf(200, body, sent)).toEqual({
        kind: 'response-invalid',
        message: `unexpected response with status 200: its ${name} is not what was sent`,
        status: 200,
        body,
        attempts: 1,
      });
    },
  );

  it('a 200 of another realm is read', async () => {
    const source = `async () => ({ status: 200, headers: { get: () => null }, body: {
      async *[Symbol.asyncIterator]() { yield new TextEncoder().encode('{"name":"a"}'); } } })`;
    const fetch = runInNewContext(source, { TextEncoder }) as ClientOptions['fetch'];
    expect(await errorOf(createTestClient(fetch!))).toBeUndefined();
  });
});

describe('an error of the service', () => {
  it.each([
    [400, 1401, 'id-taken'],
    [503, 3503, 'unavailable'],
    [400, 2402, 'token-rejected'],
    [400, 4000, 'plant-refused'],
    [400, 4999, 'plant-refused'],
    [400, 3999, 'unknown'],
    [400, 5000, 'unknown'],
    [418, -(2 ** 31), 'unknown'],
    [500, 2 ** 31 - 1, 'unknown'],
  ])('a %i with error %i is refused: %s', async (status, error, name) => {
    const body = JSON.stringify({ error, message: 'because', more: true });
    const refused = { kind: 'refused', name, error, message: 'because', status, attempts: 1 };
    expect(await outcomeOf(status, body)).toEqual(refused);
  });

  it.each([
    ['', '<h1>Bad</h1>', 'null', '[1401,"a"]', '{"error":1401}', '{"message":"a"}'],
    ['{"error":"1401","message":"a"}', '{"error":1401,"message":7}', '{"error":1.5,"message":"a"}'],
    ['{"error":2147483648,"message":"a"}', '{"error":-2147483649,"message":"a"}'],
    ['{"error":1e999,"message":"a"}', '{"error":{"valueOf":1},"message":"a"}'],
  ])('a body that is no error of the service is raw in the error: %s', async (...bodies) => {
    for (const body of bodies) {
      const invalid = { kind: 'response-invalid', status: 400, body };
      expect(await outcomeOf(400, body)).toMatchObject(invalid);
      expect(await outcomeOf(500, body)).toEqual({
        kind: 'unexpected-status',
        message: 'unexpected response with status 500',
        status: 500,
        body,
        attempts: 1,
      });
    }
  });

  it.each([201, 204, 304, 399])('a %i is unexpected-status with every body', async (status) => {
    for (const body of ['{"name":"a"}', '{"error":1401,"message":"a"}']) {
      const error = { kind: 'unexpected-status', status, body };
      expect(await outcomeOf(status, body, { name: 'a' })).toMatchObject(error);
    }
  });

  it('a body without an end is truncated, and its connection closed', async () => {
    const closed = Promise.withResolvers<undefined>();
    const baseUrl = await startServer((_request, response) => {
      const chunk = Buffer.alloc(2 ** 16, '"');
      const writeChunks = () => {
        while (response.write(chunk));
      };
      response.on('drain', writeChunks).on('close', () => closed.resolve(undefined));
      writeChunks();
    });
    const body = '"'.repeat(maxTextLength);
    const expected = { kind: 'response-invalid', status: 200, attempts: 1, body };
    expect(await errorOf(createClient({ baseUrl, token }))).toMatchObject(expected);
    await closed.promise;
  });
});

describe('no complete response', () => {
  it.each<[string, Parameters<typeof startServer>[0], number | undefined]>([
    ['before the response', (request) => request.socket.destroy(), undefined],
    [
      'during the body',
      (request, response) => {
        response.writeHead(200, { 'content-length': 99 });
        response.write('{"name":', () => request.socket.resetAndDestroy());
      },
      200,
    ],
  ])('a connection that is lost %s is a network error', async (_, listener, status) => {
    const client = createClient({ baseUrl: await startServer(listener), token, retries: 0 });
    const error = await errorOf(client);
    expect(error).toMatchObject({ kind: 'network', attempts: 1, cause: { name: 'TypeError' } });
    expect(error?.status).toBe(status);
  });

  const arrayBuffer = async () => Buffer.from('{"name":"a"}');
  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['a string', 'a text'],
    ['an empty object', {}],
    ['a value whose members throw', hostile],
    ['a response with a string as its status', { status: '200', arrayBuffer }],
    ['a response with NaN as its status', { status: Number.NaN, arrayBuffer }],
    ['a response without a body', { status: 200 }],
    ['a response whose arrayBuffer is a string', { status: 200, arrayBuffer: async () => 'x' }],
  ])('a fetch that returns or throws %s results in a network error', async (_, value) => {
    const expected = { kind: 'network', attempts: 1 };
    for (const fetch of [async () => value, () => value, rejecting(value), throwing(value)])
      expect(await errorOf(createTestClient(untyped(fetch)))).toMatchObject(expected);
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

  it('the body of an invalid response is cancelled', async () => {
    const { body, cancelled } = unendingBody();
    const client = createTestClient(async () => untyped({ status: 'no number', body }));
    expect((await client.createPlant(plant)).isErr()).toBe(true);
    await cancelled;
  });
});
