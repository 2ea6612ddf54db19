import { EventEmitter } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { createMemoryRepository } from '@plantstore/core';
import { recordLog } from '@plantstore/test-support/record-log';
import { describe, expect, it } from 'vitest';
import { plant } from '../../test/listen.ts';
import { recordEvents, steps } from '../../test/record-events.ts';
import { createRequestListener } from './create-request-listener.ts';

const headers = {
  host: 'localhost',
  authorization: 'Bearer good',
  'content-type': 'application/json',
  'x-request-id': 'one',
};

/** Serves a request as adapters simulate them: without a connection, and by default with `headers` only. */
const serve = async (
  more: object = {},
  emitted: readonly string[] = ['finish'],
  request: EventEmitter = new IncomingMessage(new Socket()),
) => {
  const { logged, logger } = recordLog();
  const listener = createRequestListener({
    repository: createMemoryRepository(),
    authenticate: (token) => token === 'good',
    logger,
  });
  const line = { method: 'POST', url: '/plants', httpVersion: '1.1' };
  const fields = Object.assign(request, { ...line, headers, socket: null, ...more });
  const response = new ServerResponse(fields as unknown as IncomingMessage);
  const { promise: body, resolve } = Promise.withResolvers<string>();
  const end = (text: string) => {
    for (const event of emitted) response.emit(event);
    resolve(text);
  };
  listener(fields as unknown as IncomingMessage, Object.assign(response, { end }));
  request.emit('data', Buffer.from(plant(7)));
  request.emit('end');
  return { status: response.statusCode, body: await body, logged };
};

describe('a simulated request', () => {
  it.each<[string, object, EventEmitter?]>([
    ['has empty rawHeaders', { rawHeaders: [], complete: true }],
    ['has no rawHeaders', { rawHeaders: undefined }],
    ['is no stream', { httpVersion: undefined }, new EventEmitter()],
  ])('a simulated request with headers is served if it %s', async (_, more, request) => {
    const { status, body, logged } = await serve(more, ['finish'], request);
    expect([status, body]).toEqual([200, '{"name":"Monstera"}']);
    expect(logged).toMatchObject([{ message: 'request', status: 200 }]);
  });

  it.each<[string, number, string, object]>([
    [
      'a field twice',
      400,
      'header host is repeated',
      { headers: { ...headers, host: ['a', 'b'] } },
    ],
    [
      'no headers',
      400,
      'a valid Host header is required',
      { headers: undefined, rawHeaders: undefined },
    ],
  ])('a simulated request with %s gets %i', async (_, status, message, more) => {
    const response = await serve(more);
    expect(response).toMatchObject({ status, body: expect.stringContaining(message) as unknown });
  });

  it('a simulated request that emits an error, and nothing else, gets an error response', async () => {
    const request = new EventEmitter();
    const emit = () => EventEmitter.prototype.emit.call(request, 'error', new Error('no'));
    expect((await serve({ emit }, ['finish'], request)).status).toBe(500);
  });
});

describe('a simulated response', () => {
  it.each([
    [['finish'], 'request', true],
    [['finish', 'close'], 'request', true],
    [['finish', 'finish'], 'request', true],
    [['close'], 'request aborted', false],
  ])('a simulated response that emits %j is logged once, as %s', async (...row) => {
    const [emitted, message, isWritten] = row;
    const events = recordEvents();
    const { logged } = await serve({}, emitted);
    expect(steps(events)).toEqual(['start', 'end']);
    expect(events[1]?.[1]).toMatchObject({ isWritten });
    expect(logged).toMatchObject([{ message, requestId: 'one', status: 200 }]);
  });

  it('a simulated response gets its headers as an object', () => {
    const given: unknown[] = [];
    const writeHead = (...args: unknown[]) => void given.push(args);
    const response = Object.assign(new EventEmitter(), { writeHead, end() {} });
    const request = Object.assign(new EventEmitter(), { method: 'GET', url: '/', headers });
    const options = { repository: createMemoryRepository(), authenticate: () => true };
    const [first, second] = [request, response] as unknown as Parameters<
      ReturnType<typeof createRequestListener>
    >;
    createRequestListener(options)(first, second);
    expect(given).toMatchObject([[404, { 'Content-Type': 'application/json' }]]);
  });
});
