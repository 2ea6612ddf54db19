import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createMemoryRepository } from '@plantstore/core';
import { memoryInUse } from '@plantstore/test-support/memory';
import { connectRaw, parseResponses, sendRaw } from '@plantstore/test-support/raw-http';
import { sample } from '@plantstore/test-support/sample';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { goodFields, head, listen, plant, post, responses } from '../../test/listen.ts';
import { createHttpServer } from './create-http-server.ts';
import { createRequestListener, type RequestListenerOptions } from './create-request-listener.ts';

describe('unauthenticated client', () => {
  it('an unauthenticated client gets the response before it sends its body', async () => {
    const { port } = await listen();
    const { socket, until } = await connectRaw(port);
    socket.write(head(['Host: a', 'Content-Type: application/json', 'Content-Length: 900']));
    expect(parseResponses(await until(responses(1)))).toMatchObject([{ status: 401 }]);
    socket.destroy();
  });

  it('an unauthenticated client is refused by an async authenticate if the app has replaced Promise, as zone.js does', async () => {
    vi.stubGlobal('Promise', class extends Promise<unknown> {});
    onTestFinished(() => void vi.unstubAllGlobals());
    const { port } = await listen({ authenticate: async () => false });
    expect((await sendRaw(port, post(1))).status).toBe(401);
  });

  it('an unauthenticated client can send its next request after a body that was held back', async () => {
    const { port } = await listen({ maxBodyBytes: 100_000, authenticate: async () => false });
    const { socket, until } = await connectRaw(port);
    const body = plant(1).padEnd(50_000);
    for (const count of [1, 2, 3]) {
      socket.write(head([...goodFields, `Content-Length: ${body.length}`]) + body);
      const statuses = parseResponses(await until(responses(count))).map(({ status }) => status);
      expect(statuses).toEqual(Array(count).fill(401));
    }
    socket.destroy();
  });

  const bodyOf = (size: number) =>
    head([...goodFields, `Content-Length: ${size}`]) + plant(7).padEnd(size);
  const get = head(['Host: a'], 'GET / HTTP/1.1');
  const floods: Readonly<Record<string, string>> = {
    'a large body': bodyOf(900_000),
    'bodies of 50 KB': bodyOf(50_000).repeat(20),
    'chunks of one byte':
      head([...goodFields, 'Transfer-Encoding: chunked']) +
      `${'1\r\n{\r\n'.repeat(200_000)}0\r\n\r\n`,
    'heads of 15 KB': head([...goodFields, `X: ${'x'.repeat(15_000)}`]).repeat(60),
    // Fewer than the maximum of waiting requests in 64 KiB.
    'heads of 2.2 KB': head(['Host: a', `X: ${'x'.repeat(2_200)}`], 'GET / HTTP/1.1').repeat(400),
  };
  const servers: Readonly<Record<string, (options: RequestListenerOptions) => Server>> = {
    createHttpServer,
    createRequestListener: (options) => createServer(createRequestListener(options)),
    'createRequestListener, with small buffers': (options) =>
      createServer({ highWaterMark: 1_024 }, createRequestListener(options)),
    'createHttpServer, with a listener that reads': (options) =>
      createHttpServer(options).prependListener('request', (request) => request.resume()),
    'createHttpServer, with a listener that reads the socket': (options) =>
      createHttpServer(options).on('connection', (socket) => socket.on('data', () => {})),
    'createHttpServer, with a listener that resumes the socket': (options) =>
      createHttpServer(options).once('request', ({ socket }) => {
        setImmediate(() => {
          // Takes effect a turn later, after the pause.
          socket.resume();
          socket.pause();
        });
      }),
  };
  const readAhead = Object.keys(servers).flatMap((kind) =>
    Object.keys(floods).map((what) => [kind, what] as const),
  );

  it.each(sample(readAhead, 3))(
    'an unauthenticated client has at most 64 KiB read while its token is checked, and the rest afterwards: %s, %s',
    async (kind, what) => {
      const checked = Promise.withResolvers<boolean>();
      const options = {
        repository: createMemoryRepository(),
        authenticate: async () => checked.promise,
        maxBodyBytes: 1_000_000,
      };
      const server = servers[kind]?.(options).listen(0, '127.0.0.1');
      if (server === undefined) throw new Error(kind);
      await once(server, 'listening');
      onTestFinished(() => void server.close());
      const accepted = once(server, 'connection') as Promise<[Socket]>;
      const { port } = server.address() as AddressInfo;
      const { socket, until } = await connectRaw(port);
      const [peer] = await accepted;
      socket.write(post(1).slice(0, -1));
      while (peer.bytesRead < post(1).length - 1) await nextTurn();
      socket.write(post(1).slice(-1) + (floods[what] ?? ''));
      let bytesRead = -1;
      while (bytesRead !== peer.bytesRead) {
        ({ bytesRead } = peer);
        for (let turns = 0; turns < 100; turns += 1) await nextTurn();
      }
      // What one read has brought, and the request before it.
      expect(bytesRead).toBeLessThanOrEqual(65_536 + post(1).length);
      // Other connections are served meanwhile.
      expect((await sendRaw(port, get)).status).toBe(404);
      expect(peer.bytesRead).toBe(bytesRead);
      checked.resolve(true);
      await until(responses(2));
      expect(peer.bytesRead).toBeGreaterThan(bytesRead);
      socket.destroy();
    },
  );

  it.each([
    ['below maxBodyBytes', 200_000_000],
    ['above maxBodyBytes', 1000],
  ])(
    'an unauthenticated client cannot make the server keep its body in memory (%s)',
    async (_, limit) => {
      const { port } = await listen({ maxBodyBytes: limit });
      const { socket, until } = await connectRaw(port);
      socket.write(
        head(['Host: a', 'Content-Type: application/json', 'Content-Length: 100000000']),
      );
      await until(responses(1));
      const megabyte = Buffer.alloc(1_000_000);
      const before = memoryInUse();
      for (let sent = 0; sent < 60; sent += 1) {
        await new Promise<void>((resolve) => {
          socket.write(megabyte, () => resolve());
        });
      }
      // The memory of dropped buffers is released some time after their collection.
      await expect.poll(() => memoryInUse() - before).toBeLessThan(20_000_000);
      socket.destroy();
    },
  );
});
