import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createMemoryRepository } from '@plantstore/core';
import { memoryInUse } from '@plantstore/test-support/memory';
import { sendRaw } from '@plantstore/test-support/raw-http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  chunked,
  connectTo,
  goodFields,
  head,
  listen,
  open,
  plant,
  post,
  responses,
  statusesOf,
} from '../../test/listen.ts';
import { createHttpServer } from './create-http-server.ts';
import { createRequestListener, type RequestListenerOptions } from './create-request-listener.ts';

describe('unauthenticated client', () => {
  it('an unauthenticated client is refused by an async authenticate if the app has replaced Promise, as zone.js does', async () => {
    vi.stubGlobal('Promise', class extends Promise<unknown> {});
    onTestFinished(() => void vi.unstubAllGlobals());
    const { port } = await listen({ authenticate: async () => false });
    expect((await sendRaw(port, post(1))).status).toBe(401);
  });

  const bodyOf = (size: number) =>
    head([...goodFields, `Content-Length: ${size}`]) + plant(7).padEnd(size);

  it('an unauthenticated client can send its next request after a body that was held back', async () => {
    const options = { maxBodyBytes: 100_000, authenticate: async () => false };
    const { socket, until } = await open(options);
    for (const count of [1, 2, 3]) {
      socket.write(bodyOf(50_000));
      expect(statusesOf(await until(responses(count)))).toEqual(Array(count).fill(401));
    }
  });

  const get = head(['Host: a'], 'GET / HTTP/1.1');
  const floods: Readonly<Record<string, string>> = {
    'a large body': bodyOf(900_000),
    'bodies of 50 KB': bodyOf(50_000).repeat(20),
    'chunks of one byte': `${chunked().slice(0, -5)}${'1\r\n{\r\n'.repeat(200_000)}0\r\n\r\n`,
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
  // Each flood of the first server, and one of each other.
  const readAhead = Object.entries(servers).flatMap(([kind, create], server) =>
    Object.entries(floods)
      .filter((_, flood) => server === 0 || flood === server - 1)
      .map(([what, bytes]) => [kind, what, create, bytes] as const),
  );

  it.each(readAhead)(
    'an unauthenticated client has at most 64 KiB read while its token is checked, and the rest afterwards: %s, %s',
    async (_kind, _what, create, bytes) => {
      const checked = Promise.withResolvers<boolean>();
      const server = create({
        repository: createMemoryRepository(),
        authenticate: async () => checked.promise,
        maxBodyBytes: 1_000_000,
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      onTestFinished(() => void server.close());
      const accepted = once(server, 'connection') as Promise<[Socket]>;
      const { port } = server.address() as AddressInfo;
      const { socket, until } = await connectTo(port);
      const [peer] = await accepted;
      socket.write(post(1).slice(0, -1));
      while (peer.bytesRead < post(1).length - 1) await nextTurn();
      socket.write(post(1).slice(-1) + bytes);
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
    },
  );

  it.each([200_000_000, 1000])(
    'an unauthenticated client gets its response before its body, and cannot make the server keep it, with maxBodyBytes %d',
    async (maxBodyBytes) => {
      const { socket, until } = await open({ maxBodyBytes });
      socket.write(head(['Host: a', 'Content-Length: 100000000']));
      expect(statusesOf(await until(responses(1)))).toEqual([401]);
      const megabyte = Buffer.alloc(1_000_000);
      const before = memoryInUse();
      for (let sent = 0; sent < 60; sent += 1) {
        await new Promise<void>((resolve) => {
          socket.write(megabyte, () => resolve());
        });
      }
      // The memory of dropped buffers is released some time after their collection.
      await expect.poll(() => memoryInUse() - before).toBeLessThan(20_000_000);
    },
  );
});
