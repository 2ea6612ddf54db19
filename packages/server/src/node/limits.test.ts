import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { sendRaw } from '@plantstore/test-support/raw-http';
import { recordLog } from '@plantstore/test-support/record-log';
import { okAsync, ResultAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import {
  chunked,
  connectTo,
  errorOf,
  goodFields,
  head,
  listen,
  maxBodyBytes,
  open,
  post,
  responses,
  statusesOf,
} from '../../test/listen.ts';
import { onDemand } from '../../test/on-demand.ts';
import type { HttpServerOptions } from './create-http-server.ts';

describe('requests above maxInFlight', () => {
  it('requests above maxInFlight get 503 with Retry-After at once, without those that are refused', async () => {
    const { repository, until, completeAll } = onDemand();
    const { port } = await listen({ repository, maxInFlight: 2 });
    expect((await sendRaw(port, chunked('x'.repeat(maxBodyBytes + 1)))).status).toBe(413);
    const first = [sendRaw(port, post(1)), sendRaw(port, chunked('{"id":2,"name":"x"}'))];
    await until(2);
    for (const request of [post(3), chunked('{"id":4,"name":"x"}')]) {
      const { status, headers, body } = await sendRaw(port, request);
      expect({ status, error: errorOf(body) }).toEqual({ status: 503, error: 3503 });
      expect(headers['retry-after']).toBe('1');
    }
    expect((await sendRaw(port, head(['Host: x']))).status).toBe(401);
    completeAll();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
    const next = sendRaw(port, post(5));
    await until(1);
    completeAll();
    expect((await next).status).toBe(200);
  });

  it.each<[string, Partial<HttpServerOptions>]>([
    ['the repository', { repository: { create: () => new ResultAsync(new Promise(() => {})) } }],
    ['authenticate', { authenticate: async () => new Promise<never>(() => {}) }],
  ])('requests are no longer in flight when %s exceeds handlerTimeoutMs', async (_, options) => {
    const { logged, logger } = recordLog();
    const { port } = await listen({ ...options, handlerTimeoutMs: 20, maxInFlight: 1, logger });
    const cause = expect.stringMatching(/timed out after 20 ms/) as unknown;
    for (const id of [1, 2]) {
      const { status, headers } = await sendRaw(port, post(id));
      expect([status, headers['retry-after']]).toEqual([503, '1']);
      expect(logged.at(-1)).toMatchObject({ level: 'warn', cause });
    }
  });
});

describe('connections', () => {
  it('connections above maxConnections are closed at once and logged, also later ones', async () => {
    const { logged, logger } = recordLog();
    const { port } = await listen({ maxConnections: 2, logger });
    const [one] = [await connectTo(port), await connectTo(port)];
    const connectMore = async () => connectTo(port);
    const inLog = () => logged.map(({ dropped }) => Number(dropped));
    let closed = 0;
    for (const count of [3, 1]) {
      for (const { ended } of await Promise.all(Array.from({ length: count }, connectMore)))
        expect(await ended).toBe('');
      closed += count;
      await expect.poll(() => inLog().reduce((sum, dropped) => sum + dropped, 0)).toBe(closed);
    }
    // Connections that are closed within a second share one line; no line reports 0.
    expect(inLog()).not.toContain(0);
    expect(logged.at(-1)).toMatchObject({ level: 'warn', dropped: 1, maxConnections: 2 });
    one?.socket.write(post(1));
    expect(statusesOf((await one?.until(responses(1))) ?? '')).toEqual([200]);
  });

  it('connections are read for at most 64 KiB while a plant is stored and requests wait behind it', async () => {
    const { repository, completeAll } = onDemand();
    const { socket, until, peer } = await open({
      repository,
      // Resolves after the requests of a packet are parsed.
      authenticate: async () => nextTurn(true),
    });
    // 64 KiB contain fewer of these requests than may wait.
    const get = head(['Host: a', `X: ${'x'.repeat(2_200)}`], 'GET / HTTP/1.1');
    socket.write(post(1) + get.repeat(400));
    let bytesRead = -1;
    while (bytesRead !== peer.bytesRead) {
      ({ bytesRead } = peer);
      for (let turns = 0; turns < 100; turns += 1) await nextTurn();
    }
    expect(bytesRead).toBeLessThanOrEqual(65_536);
    completeAll();
    await until(responses(401));
  });

  const large = (size: number) => {
    const body = `{"id":1,"name":"${'x'.repeat(size)}"}`;
    return head([...goodFields, `Content-Length: ${body.length}`]) + body;
  };
  const timeouts = { requestTimeoutMs: 500, handlerTimeoutMs: 100 };

  it('connections whose client does not read its responses are ended after a time without activity', async () => {
    const repository = { create: () => okAsync() };
    const options = { repository, maxBodyBytes: 2_000_000, ...timeouts };
    const { socket, ended, closed } = await open(options);
    socket.pause();
    for (let count = 0; count < 20; count += 1) socket.write(large(1_000_000));
    await closed;
    socket.resume();
    expect(statusesOf(await ended).length).toBeLessThan(20);
  });

  it('connections remain open until authenticate and then the repository have reached their timeouts', async () => {
    const { port } = await listen({
      authenticate: async () => sleep(700, true),
      repository: onDemand().repository,
      requestTimeoutMs: 1_000,
      handlerTimeoutMs: 1_000,
    });
    const { status, body } = await sendRaw(port, post(1));
    expect({ status, error: errorOf(body) }).toEqual({ status: 503, error: 3503 });
  });

  it('connections that are idle may send their next request within keepAliveTimeoutMs', async () => {
    const { port } = await listen({ keepAliveTimeoutMs: 7_000 });
    expect((await sendRaw(port, post(1))).headers['keep-alive']).toBe('timeout=7');
  });
});
