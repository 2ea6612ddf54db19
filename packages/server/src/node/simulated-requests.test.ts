import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { createMemoryRepository } from '@plantstore/core';
import { describe, expect, it } from 'vitest';
import { plant } from '../../test/listen.ts';
import { recordEvents, steps } from '../../test/record-events.ts';
import { recordLog } from '@plantstore/test-support/record-log';
import { createRequestListener } from './create-request-listener.ts';

const headers = {
  host: 'localhost',
  authorization: 'Bearer good',
  'content-type': 'application/json',
  'x-request-id': 'one',
};

/** Serves a request as adapters simulate them: without a connection, and by default with `headers` only. */
const serve = (more: object = {}, emitted: readonly string[] = ['finish', 'close']) => {
  const { logged, logger } = recordLog();
  const events = recordEvents();
  const listener = createRequestListener({
    repository: createMemoryRepository(),
    authenticate: (token) => token === 'good',
    logger,
  });
  const request = new IncomingMessage(new Socket());
  Object.assign(request, {
    method: 'POST',
    url: '/plants',
    httpVersion: '1.1',
    headers,
    complete: true,
    socket: null,
    ...more,
  });
  request.push(plant(7));
  request.push(null);
  const response = new ServerResponse(request);
  const written = Promise.withResolvers<string>();
  const end = (body: string) => {
    for (const event of emitted) response.emit(event);
    written.resolve(body);
  };
  Object.assign(response, { end });
  listener(request, response);
  return { response, written: written.promise, logged, events };
};

describe('a simulated request', () => {
  it.each([
    ['empty', { rawHeaders: [] }],
    ['missing', { rawHeaders: undefined }],
  ])('a simulated request with headers is served if its rawHeaders are %s', async (_, more) => {
    const { response, written } = serve(more);
    expect(await written).toBe('{"name":"Monstera"}');
    expect(response.statusCode).toBe(200);
  });

  it('a simulated request is refused if one of its headers has two values that must occur once', async () => {
    const { response, written } = serve({ headers: { ...headers, host: ['a', 'b'] } });
    expect(await written).toContain('a header is repeated');
    expect(response.statusCode).toBe(400);
  });

  it('a simulated request without any headers gets an error response', async () => {
    const { written } = serve({ headers: undefined, rawHeaders: undefined });
    expect(await written).toContain('a valid Host header is required');
  });
});

describe('a simulated response', () => {
  it.each([
    ['only finish', ['finish']],
    ['finish and close', ['finish', 'close']],
    ['finish twice', ['finish', 'finish']],
  ])('a simulated response that emits %s is logged once, as written', async (_, emitted) => {
    const { logged, events, written } = serve({}, emitted);
    await written;
    expect(steps(events)).toEqual(['start', 'end']);
    expect(events[1]?.[1]).toMatchObject({ isWritten: true });
    expect(logged).toMatchObject([{ message: 'request', requestId: 'one', status: 200 }]);
  });

  it('a simulated response that only closes is logged as aborted', async () => {
    const { logged, events, written } = serve({}, ['close']);
    await written;
    expect(events[1]?.[1]).toMatchObject({ isWritten: false });
    expect(logged).toMatchObject([{ message: 'request aborted', requestId: 'one', status: 200 }]);
  });
});
