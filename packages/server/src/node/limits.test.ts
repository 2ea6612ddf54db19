import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createMemoryRepository } from '@plantstore/core';
import { connectRaw, parseResponses, sendRaw } from '@plantstore/test-support/raw-http';
import { okAsync, ResultAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import {
  chunked,
  errorOf,
  goodFields,
  head,
  listen,
  maxBodyBytes,
  post,
  responses,
} from '../../test/listen.ts';
import { onDemand } from '../../test/on-demand.ts';
import { recordLog } from '@plantstore/test-support/record-log';
import { createHttpServer, type HttpServerOptions } from './create-http-server.ts';

describe('requests above maxInFlight', () => {
  it('requests above maxInFlight get 503 with Retry-After at once, and do not affect the requests in flight', async () => {
    const { repository, until, completeAll } = onDemand();
    const { port } = await listen({ repository, maxInFlight: 2 });
    const first = [sendRaw(port, post(1)), sendRaw(port, chunked('{"id":2,"name":"x"}'))];
    await until(2);
    for (const request of [post(3), chunked('{"id":4,"name":"x"}')]) {
      const { status, headers, body } = await sendRaw(port, request);
      expect({ status, error: errorOf(body) }).toEqual({ status: 503, error: 3503 });
      expect(headers['retry-after']).toBe('1');
    }
    completeAll();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
    const next = sendRaw(port, post(5));
    await until(1);
    completeAll();
    expect((await next).status).toBe(200);
  });

  it('requests that are refused by their head do not count towards maxInFlight', async () => {
    const { repository, until, completeAll } = onDemand();
    const { port } = await listen({ repository, maxInFlight: 1 });
    const first = sendRaw(port, post(1));
    await until(1);
    const unauthenticated = head(['Host: x', 'Authorization: Bearer bad', 'Content-Length: 0']);
    expect((await sendRaw(port, unauthenticated)).status).toBe(401);
    completeAll();
    expect((await first).status).toBe(200);
  });

  it('requests whose body is too large are in flight once', async () => {
    const { repository, until, completeAll } = onDemand();
    const { port } = await listen({ repository, maxInFlight: 1 });
    expect((await sendRaw(port, chunked('x'.repeat(maxBodyBytes + 1)))).status).toBe(413);
    const first = sendRaw(port, post(1));
    await until(1);
    expect((await sendRaw(port, post(2))).status).toBe(503);
    completeAll();
    expect((await first).status).toBe(200);
  });

  it('requests are no longer in flight when their client disconnects or sends an invalid plant', async () => {
    const { port } = await listen({ maxInFlight: 1 });
    const { socket } = await connectRaw(port);
    socket.write(head([...goodFields, 'Content-Length: 10', 'Expect: 100-continue']));
    socket.destroy();
    expect((await sendRaw(port, chunked('nonsense'))).status).not.toBe(200);
    let status = 503;
    while (status === 503) ({ status } = await sendRaw(port, post(1)));
    expect(status).toBe(200);
  });
});

describe('handler that exceeds handlerTimeoutMs', () => {
  const never = new Promise<never>(() => {});

  it.each<[string, Partial<HttpServerOptions>]>([
    ['the repository', { repository: { create: () => new ResultAsync(never) } }],
    ['authenticate', { authenticate: async () => never }],
  ])(
    'a handler that exceeds handlerTimeoutMs gets 503 with Retry-After if it is %s',
    async (_, options) => {
      const logged: unknown[] = [];
      const logger = { info() {}, error() {}, warn: (fields: unknown) => void logged.push(fields) };
      const { port } = await listen({ ...options, handlerTimeoutMs: 20, maxInFlight: 1, logger });
      for (const id of [1, 2]) {
        const { status, body, headers } = await sendRaw(port, post(id));
        expect({ status, error: errorOf(body) }).toEqual({ status: 503, error: 3503 });
        expect(headers['retry-after']).toBe('1');
      }
      expect(logged[0]).toMatchObject({
        cause: expect.stringMatching(/timed out after 20 ms/) as unknown,
      });
    },
  );
});

describe('connections', () => {
  it('connections above maxConnections are closed at once and logged, also later ones', async () => {
    const { logged, logger } = recordLog();
    const { port } = await listen({ maxConnections: 2, logger });
    const [one, two] = [await connectRaw(port), await connectRaw(port)];
    const connectMore = async () => connectRaw(port);
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
    one.socket.write(post(1));
    expect(parseResponses(await one.until(responses(1)))[0]?.status).toBe(200);
    one.socket.destroy();
    two.socket.destroy();
  });

  it('connections are read for at most 64 KiB while a plant is stored and requests wait behind it', async () => {
    const { repository, completeAll } = onDemand();
    const { server, port } = await listen({
      repository,
      // Resolves after the requests of a packet are parsed.
      authenticate: async () => nextTurn(true),
    });
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const { socket, until } = await connectRaw(port);
    const [peer] = await accepted;
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
    socket.destroy();
  });

  it('connections whose client does not read its responses are ended after a time without activity', async () => {
    const name = 'x'.repeat(1_000_000);
    const repository = { create: () => okAsync() };
    const { server, port } = await listen({
      repository,
      maxBodyBytes: 2_000_000,
      requestTimeoutMs: 500,
      handlerTimeoutMs: 100,
    });
    const { socket, ended } = await connectRaw(port);
    socket.pause();
    const body = `{"id":1,"name":"${name}"}`;
    const request = head([...goodFields, `Content-Length: ${body.length}`]) + body;
    for (let count = 0; count < 20; count += 1) socket.write(request);
    const connections = promisify(server.getConnections.bind(server));
    while ((await connections()) > 0) await sleep(2);
    socket.resume();
    expect(parseResponses(await ended).length).toBeLessThan(20);
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
    const { socket, until } = await connectRaw(port);
    socket.write(post(1));
    const [response] = parseResponses(await until(responses(1)));
    expect(response?.headers['keep-alive']).toBe('timeout=7');
    socket.destroy();
  });

  it('connections whose client does not read its responses are ended after a CONNECT, too', async () => {
    const timeouts = { requestTimeoutMs: 500, handlerTimeoutMs: 100 };
    const { server, port } = await listen({ ...timeouts, maxBodyBytes: 30_000_000 });
    const connections = promisify(server.getConnections.bind(server));
    const body = `{"id":1,"name":"${'x'.repeat(20_000_000)}"}`;
    const request = head([...goodFields, `Content-Length: ${body.length}`]) + body;
    const received: unknown[] = [];
    server.on('connect', (connect) => received.push(connect));
    const send = async () => {
      const [client] = await Promise.all([connectRaw(port), once(server, 'connection')]);
      client.socket.pause();
      client.socket.write(request + head(['Host: a:1'], 'CONNECT a:1 HTTP/1.1'));
      while (received.length === 0 && (await connections()) > 0) await sleep(2);
      return client;
    };
    let { socket, ended } = await send();
    // On a busy machine, the first request can take longer than its timeout.
    while (received.length === 0) ({ socket, ended } = await send());
    while ((await connections()) > 0) await sleep(2);
    socket.resume();
    expect((await ended).length).toBeLessThan(20_000_000);
  });
});

it.each([0, -1, 1.5, Number.NaN, 2 ** 31, '5'])('the limit %j throws a TypeError', (wrong) => {
  for (const name of ['maxBodyBytes', 'maxInFlight', 'handlerTimeoutMs', 'maxConnections']) {
    const options = {
      repository: createMemoryRepository(),
      authenticate: () => true,
      [name]: wrong,
    };
    expect(() => createHttpServer(options)).toThrow(new RegExp(`^${name} must be a whole number`));
  }
});
