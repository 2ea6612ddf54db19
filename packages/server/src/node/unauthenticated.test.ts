import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createMemoryRepository } from '@plantstore/core';
import { memoryInUse } from '@plantstore/test-support/memory';
import { connectRaw, parseResponses, sendRaw } from '@plantstore/test-support/raw-http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { goodFields, head, listen, plant, responses } from '../../test/listen.ts';
import { createHttpServer } from './create-http-server.ts';
import { createRequestListener } from './create-request-listener.ts';
import type { RequestListenerOptions } from './request-handler.ts';

describe('unauthenticated client', () => {
  it('an unauthenticated client gets the response before it sends its body', async () => {
    const { port } = await listen();
    const { socket, until } = await connectRaw(port);
    socket.write(head(['Host: a', 'Content-Type: application/json', 'Content-Length: 900']));
    expect(parseResponses(await until(responses(1)))).toMatchObject([{ status: 401 }]);
    socket.destroy();
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

  it.each([
    ['in one piece', [1_000_000]],
    ['in pieces', Array<number>(60).fill(16_383)],
  ])(
    'an unauthenticated client has at most 160 KiB of its body read while its token is checked, %s',
    async (_, pieces) => {
      const authenticate = async () => new Promise<boolean>(() => {});
      const { server, port } = await listen({ maxBodyBytes: 10_000_000, authenticate });
      const accepted = once(server, 'connection') as Promise<[Socket]>;
      const { socket } = await connectRaw(port);
      const [peer] = await accepted;
      const start = head([...goodFields, 'Content-Length: 9000000']);
      socket.setNoDelay().write(start);
      for (const size of pieces) {
        socket.write(Buffer.alloc(size, ' '));
        await nextTurn();
      }
      // Other connections are served meanwhile.
      for (let count = 0; count < 20; count += 1) {
        expect((await sendRaw(port, head(['Host: a'], 'GET / HTTP/1.1'))).status).toBe(404);
      }
      expect(peer.bytesRead - start.length).toBeLessThanOrEqual(160 * 1024);
      expect(peer.bytesRead - start.length).toBeGreaterThan(16 * 1024);
      socket.destroy();
    },
  );

  it.each<[string, (options: RequestListenerOptions) => Server]>([
    ['createHttpServer', createHttpServer],
    ['createRequestListener', (options) => createServer(createRequestListener(options))],
  ])(
    'an unauthenticated client has at most 80 KiB of pipelined bodies read while its token is checked, and all afterwards: %s',
    async (_, create) => {
      const checked = Promise.withResolvers<boolean>();
      const server = create({
        repository: createMemoryRepository(),
        authenticate: async () => checked.promise,
        maxBodyBytes: 100_000,
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      onTestFinished(() => void server.close());
      const accepted = once(server, 'connection') as Promise<[Socket]>;
      const { socket, until } = await connectRaw((server.address() as AddressInfo).port);
      const [peer] = await accepted;
      const requests = Array.from({ length: 100 }, (__, id) => {
        const body = plant(id).padEnd(50_000);
        return head([...goodFields, `Content-Length: ${body.length}`]) + body;
      });
      socket.write(requests.join(''));
      let bytesRead = -1;
      while (bytesRead !== peer.bytesRead) {
        ({ bytesRead } = peer);
        for (let turns = 0; turns < 100; turns += 1) await nextTurn();
      }
      expect(bytesRead).toBeLessThanOrEqual(80 * 1024 + 1_000);
      checked.resolve(true);
      const statuses = parseResponses(await until(responses(100))).map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set([200]));
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
