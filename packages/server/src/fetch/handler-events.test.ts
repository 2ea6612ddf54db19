import { errAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { good, loggingHandler, streaming } from '../../test/fetch-handlers.ts';
import { recordEvents, steps } from '../../test/record-events.ts';

const url = 'http://a/plants?secret';
const withId = { ...good, headers: { ...good.headers, 'X-Request-Id': 'one' } };
const request = { requestId: 'one', method: 'POST', path: '/plants' };
const durationMs = expect.any(Number) as unknown;

describe('the log and events of a fetch handler', () => {
  it('a fetch handler logs one line and publishes two events for a created plant', async () => {
    const events = recordEvents();
    const { logged, handler } = loggingHandler();
    const began = performance.now();
    await handler(url, withId);
    const elapsedMs = performance.now() - began;
    const fields = { status: 200, bytes: 19, durationMs };
    expect(logged).toStrictEqual([{ level: 'info', message: 'request', ...request, ...fields }]);
    expect(events).toStrictEqual([
      ['start', { request }],
      ['end', { request, ...fields, isWritten: true }],
    ]);
    expect(logged[0]?.['durationMs']).toBeGreaterThan(0);
    expect(logged[0]?.['durationMs']).toBeLessThanOrEqual(elapsedMs);
  });

  it('a fetch handler logs and publishes the number and cause of an error if the store is unavailable', async () => {
    const events = recordEvents();
    const create = () =>
      errAsync({ kind: 'store-unavailable' as const, reason: 'the disk is full' });
    const { logged, handler } = loggingHandler({ repository: { create } });
    await handler(url, good);
    const error = { error: 3503, cause: 'the disk is full' };
    expect(logged).toMatchObject([{ level: 'warn', message: 'request not served', ...error }]);
    expect(steps(events)).toEqual(['start', 'error', 'end']);
    expect(events[1]?.[1].request).toBe(events[2]?.[1].request);
  });

  it('a fetch handler logs no status if the request was aborted', async () => {
    const { logged, handler } = loggingHandler();
    const controller = new AbortController();
    const body = new ReadableStream({ pull: () => controller.abort() });
    const aborted = handler(streaming(body, { signal: controller.signal }));
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
    expect(logged).toMatchObject([{ level: 'info', message: 'request aborted', bytes: 0 }]);
    expect(logged[0]).not.toHaveProperty('status');
  });
});
