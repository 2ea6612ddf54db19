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
  emitted: readonly string[] = ['finish', 'close'],
  request: EventEmitter = new IncomingMessage(new Socket()),
) => {
  const { logged, logger } = recordLog();
  const events = recordEvents();
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
  return { response, body: await body, logged, events };
};

describe('a simulated request', () => {
  it.each<[string, object, EventEmitter?]>([
    ['has empty rawHeaders', { rawHeaders: [], complete: true }],
    ['has no rawHeaders', { rawHeaders: undefined }],
    ['is no stream', { httpVersion: undefined }, new EventEmitter()],
  ])('a simulated request with headers is served if it %s', async (_, more, request) => {
    const { response, body, logged } = await serve(more, ['finish'], request);
    expect(body).toBe('{"name":"Monstera"}');
    expect(response.statusCode).toBe(200);
    expect(logged).toMatchObject([{ message: 'request', status: 200 }]);
  });

  it('a simulated request is refused if one of its headers has two values that must occur once', async () => {
    const { response, body } = await serve({ headers: { ...headers, host: ['a', 'b'] } });
    expect(body).toContain('the header host is repeated');
    expect(response.statusCode).toBe(400);
  });

  it('a simulated request that emits an error, and nothing else, gets an error response', async () => {
    const request = new EventEmitter();
    const emit = () => EventEmitter.prototype.emit.call(request, 'error', new Error('no'));
    const { response } = await serve({ emit }, ['finish'], request);
    expect(response.statusCode).toBe(500);
  });

  it('a simulated request without any headers gets an error response', async () => {
    const { body } = await serve({ headers: undefined, rawHeaders: undefined });
    expect(body).toContain('a valid Host header is required');
  });
});

describe('a simulated response', () => {
  it.each([
    ['only finish', ['finish']],
    ['finish and close', ['finish', 'close']],
    ['finish twice', ['finish', 'finish']],
  ])('a simulated response that emits %s is logged once, as written', async (_, emitted) => {
    const { logged, events } = await serve({}, emitted);
    expect(steps(events)).toEqual(['start', 'end']);
    expect(events[1]?.[1]).toMatchObject({ isWritten: true });
    expect(logged).toMatchObject([{ message: 'request', requestId: 'one', status: 200 }]);
  });

  it('a simulated response that only closes is logged as aborted', async () => {
    const { logged, events } = await serve({}, ['close']);
    expect(events[1]?.[1]).toMatchObject({ isWritten: false });
    expect(logged).toMatchObject([{ message: 'request aborted', requestId: 'one', status: 200 }]);
  });

  it('a simulated response gets its headers as an object', async () => {
    const given: unknown[] = [];
    const writeHead = (...args: unknown[]) => void given.push(args);
    const response = Object.assign(new EventEmitter(), { writeHead, end() {} });
    const request = Object.assign(new EventEmitter(), { method: 'GET', url: '/', headers });
    const options = { repository: createMemoryRepository(), authenticate: () => true };
    createRequestListener(options)(
      request as unknown as IncomingMessage,
      response as unknown as ServerResponse & { req: IncomingMessage },
    );
    expect(given).toMatchObject([[404, { 'Content-Type': 'application/json' }]]);
  });
});
