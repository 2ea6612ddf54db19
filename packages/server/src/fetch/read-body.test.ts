import { getEventListeners } from 'node:events';
import type { UnderlyingSource } from 'node:stream/web';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorName } from '@plantstore/core/errors';
import { describe, expect, it } from 'vitest';
import {
  good,
  handlerWith,
  headers,
  loggingHandler,
  streaming,
  url,
} from '../../test/fetch-handlers.ts';
import { maxBodyBytes, plant } from '../../test/listen.ts';
import { errorNameOf } from '../../test/services.ts';

const nameOf = async (response: Response): Promise<ErrorName | undefined> =>
  errorNameOf(((await response.json()) as { error: number }).error);

const timers = () => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;

describe('the body of a request', () => {
  it('a body is read in chunks of one byte, and refused as soon as it exceeds the limit', async () => {
    let [sent, isCancelled] = [0, false];
    const spaces = (end: number) =>
      new ReadableStream({
        pull(stream) {
          if (sent === end) stream.close();
          else stream.enqueue(Buffer.from(plant(7).padEnd(sent + 1)[sent] ?? ''));
          sent += 1;
        },
        cancel() {
          isCancelled = true;
        },
      });
    expect((await handlerWith()(streaming(spaces(maxBodyBytes)))).status).toBe(200);
    sent = 0;
    expect(await nameOf(await handlerWith()(streaming(spaces(Infinity))))).toBe('body-too-large');
    expect([sent < maxBodyBytes + 10, isCancelled]).toEqual([true, true]);
  });

  it.each<[string, ErrorName, UnderlyingSource]>([
    ['fails at once', 'bad-request', { pull: (stream) => stream.error(new Error('no')) }],
    [
      'fails in the middle',
      'bad-request',
      {
        async pull(stream) {
          stream.enqueue(Buffer.from(plant(7).slice(0, 5)));
          await Promise.resolve();
          throw new Error('no');
        },
      },
    ],
    ['is a stream of strings', 'internal', { pull: (stream) => stream.enqueue(plant(7)) }],
    ['never arrives', 'request-timeout', {}],
    [
      'never arrives, and whose cancellation fails',
      'request-timeout',
      { cancel: () => Promise.reject(new Error('no')) },
    ],
    [
      'is an endless stream of empty chunks',
      'request-timeout',
      { pull: (stream) => stream.enqueue(new Uint8Array(0)) },
    ],
  ])('a body that %s gets %s', async (_, name, source) => {
    const handler = handlerWith({ requestTimeoutMs: 50, maxInFlight: 1 });
    expect(await nameOf(await handler(streaming(new ReadableStream(source))))).toBe(name);
    expect((await handler(url, good)).status).toBe(200);
  });

  it('a body that is already read or locked gets 500, and its cause is logged', async () => {
    const { handler, logged } = loggingHandler();
    const [read, readInPart, locked] = Array.from({ length: 3 }, () => new Request(url, good));
    await read?.json();
    const reader = readInPart?.body?.getReader();
    await reader?.read();
    reader?.releaseLock();
    locked?.body?.getReader();
    for (const request of [read, readInPart, locked]) {
      expect(request && (await nameOf(await handler(request)))).toBe('internal');
    }
    const cause = 'the body was read before this handler was called, or is not a stream of bytes';
    expect(logged).toMatchObject([{ cause }, { cause }, { cause }]);
  });

  it('a body leaves no timer and no listener once it is read', async () => {
    const request = new Request(url, good);
    const before = timers();
    expect((await handlerWith()(request)).status).toBe(200);
    expect(timers()).toBeLessThanOrEqual(before);
    expect(getEventListeners(request.signal, 'abort')).toEqual([]);
  });

  it.each([
    ['without a token', { headers: {} }, 401],
    ['with another token', { headers: { ...headers, Authorization: 'Bearer bad' } }, 401],
    ['with another path', {}, 404],
    ['with another media type', { headers: { Authorization: 'Bearer good' } }, 415],
    ['that is declared as too large', { headers: { ...headers, 'Content-Length': '1001' } }, 413],
  ])('the body of a request %s is not read', async (_, more, status) => {
    const basePath = status === 404 ? '/garden' : '';
    const pulled: unknown[] = [];
    const source = { pull: (stream: unknown) => void pulled.push(stream) };
    const body = new ReadableStream(source, { highWaterMark: 0 });
    expect((await handlerWith({ basePath })(streaming(body, more))).status).toBe(status);
    expect(pulled).toEqual([]);
  });

  it.each<[unknown, Uint8Array, number, number | undefined]>([
    [408, new Uint8Array(), 100, undefined],
    [413, new Uint8Array(100), 86_400_000, undefined],
    ['enough', new Uint8Array(), 86_400_000, 20],
  ])('after %s, no more of an endless body is read, and no timer is left', async (...row) => {
    const [outcome, chunk, requestTimeoutMs, abortMs] = row;
    let reads = 0;
    const body = new ReadableStream({
      async pull(stream) {
        await new Promise(setImmediate);
        reads += 1;
        stream.enqueue(chunk);
      },
      cancel: () => new Promise(() => {}),
    });
    const controller = new AbortController();
    const before = timers();
    if (abortMs !== undefined) setTimeout(() => controller.abort('enough'), abortMs);
    const { signal } = controller;
    const response = handlerWith({ requestTimeoutMs })(streaming(body, { signal }));
    expect(
      await response.then(
        ({ status }) => status,
        (reason: unknown) => reason,
      ),
    ).toBe(outcome);
    // Those of Vitest begin and end, too; one of the request would stay.
    for (let looks = 0; looks < 100 && timers() > before; looks += 1) await sleep(20);
    expect(timers()).toBeLessThanOrEqual(before);
    // The read that is in progress ends.
    await sleep(20);
    const readsBefore = reads;
    await sleep(50);
    expect(reads).toBe(readsBefore);
  });
});
