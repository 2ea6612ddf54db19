import { createMemoryRepository } from '@plantstore/core';
import { errAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { recordEvents } from '../../test/record-events.ts';
import { recordLog } from '@plantstore/test-support/record-log';
import { createFetchHandler, type FetchHandlerOptions } from './create-fetch-handler.ts';

const url = 'http://a/plants?secret';
const headers = {
  Authorization: 'Bearer good',
  'Content-Type': 'application/json',
  'X-Request-Id': 'one',
};
const good = { method: 'POST', headers, body: '{"id":7,"name":"Monstera"}' };
const request = { requestId: 'one', method: 'POST', path: '/plants' };
const durationMs = expect.any(Number) as unknown;

const recorded = (options: Partial<FetchHandlerOptions> = {}) => {
  const { logged, logger } = recordLog();
  const events = recordEvents();
  const handler = createFetchHandler({
    repository: createMemoryRepository(),
    authenticate: (token) => token === 'good',
    logger,
    ...options,
  });
  return { logged, events, handler };
};

describe('the log and events of a fetch handler', () => {
  it('a fetch handler logs one line and publishes two events for a created plant', async () => {
    const { logged, events, handler } = recorded();
    await handler(url, good);
    const result = { status: 200, bytes: 19, durationMs, isWritten: true };
    const { isWritten: _, ...fields } = result;
    expect(logged).toStrictEqual([{ level: 'info', message: 'request', ...request, ...fields }]);
    expect(events).toStrictEqual([
      ['start', { request }],
      ['end', { request, ...result }],
    ]);
  });

  it('the log line of a fetch handler has the time that a request took, in milliseconds with at most three decimals', async () => {
    const { logged, handler } = recorded();
    const began = performance.now();
    await handler(url, good);
    const { durationMs: took } = logged[0] as { durationMs: number };
    expect(took).toBeGreaterThan(0);
    expect(took).toBeLessThanOrEqual(performance.now() - began);
    expect(String(took)).toMatch(/^\d+(?:\.\d{1,3})?$/);
  });

  it('the log and events of a fetch handler have the number and cause of an error if the store is unavailable', async () => {
    const repository = {
      create: () => errAsync({ kind: 'store-unavailable' as const, reason: 'the disk is full' }),
    };
    const { logged, events, handler } = recorded({ repository });
    await handler(url, good);
    expect(logged).toMatchObject([
      { level: 'warn', message: 'request not served', error: 3503, cause: 'the disk is full' },
    ]);
    expect(events.map(([step]) => step)).toEqual(['start', 'error', 'end']);
    expect(events[1]?.[1].request).toBe(events[2]?.[1].request);
  });

  it('a fetch handler publishes no error event for a fault of the client', async () => {
    const { events, handler } = recorded();
    expect((await handler(url, { ...good, body: '{' })).status).toBe(400);
    expect(events.map(([step]) => step)).toEqual(['start', 'end']);
  });

  it('the log line of a fetch handler has no status if the request was aborted', async () => {
    const { logged, handler } = recorded();
    const controller = new AbortController();
    const body = new ReadableStream({ pull: () => controller.abort() });
    const init = { ...good, body, duplex: 'half' as const, signal: controller.signal };
    await expect(handler(url, init)).rejects.toMatchObject({ name: 'AbortError' });
    expect(logged).toEqual([
      { level: 'info', message: 'request aborted', ...request, bytes: 0, durationMs },
    ]);
  });

  it('a fetch handler never logs or publishes a token', async () => {
    const authenticate = () => {
      throw new Error('good is not a token');
    };
    const { logged, handler } = recorded({ authenticate });
    expect((await handler(url, good)).status).toBe(500);
    expect(JSON.stringify(logged)).not.toContain('good');
  });
});
