import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createMemoryRepository } from '@plantstore/core';
import { connectRaw } from '@plantstore/test-support/raw-http';
import { ResultAsync } from 'neverthrow';
import { describe, expect, it, onTestFinished } from 'vitest';
import { goodFields, head, listen, post } from '../../test/listen.ts';
import { recordEvents, steps } from '../../test/record-events.ts';
import { until } from '@plantstore/test-support/record-log';
import { createRequestListener } from './create-request-listener.ts';

describe('the events of a request whose client disconnects', () => {
  it('a request whose client disconnects has an end event for every start event', async () => {
    const events = recordEvents();
    const gate = Promise.withResolvers<void>();
    const create = () => ResultAsync.fromSafePromise<void>(gate.promise);
    const { port } = await listen({ repository: { create } });
    const { socket } = await connectRaw(port);
    socket.write(post(1) + post(2) + post(3));
    await until(() => events.length === 3);
    socket.resetAndDestroy();
    gate.resolve();
    await until(() => events.length === 6);
    expect(steps(events)).toEqual(['start', 'start', 'start', 'end', 'end', 'end']);
    for (const [, event] of events.slice(3)) expect(event).toMatchObject({ isWritten: false });
  });

  it('a request whose client does not read its response has an end event', async () => {
    const events = recordEvents();
    const gate = Promise.withResolvers<void>();
    const create = () => ResultAsync.fromSafePromise<void>(gate.promise);
    const { server, port } = await listen({ repository: { create }, maxBodyBytes: 9_000_000 });
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const { socket } = await connectRaw(port);
    const [peer] = await accepted;
    const large = `{"id":1,"name":"${'x'.repeat(8_000_000)}"}`;
    socket.pause();
    socket.write(head([...goodFields, `Content-Length: ${large.length}`]) + large);
    socket.write(post(2) + post(3));
    await until(() => events.length === 3);
    gate.resolve();
    // The response does not fit into the buffers of the kernel.
    await until(() => peer.writableLength > 0);
    socket.resetAndDestroy();
    await until(() => events.length === 6);
    for (const [, event] of events.slice(3)) {
      expect(event).toMatchObject({ status: 200, isWritten: false });
    }
  });

  it('the events of a request are published if its client has disconnected before the listener is called', async () => {
    const events = recordEvents();
    const listener = createRequestListener({
      repository: createMemoryRepository(),
      authenticate: () => true,
    });
    const server = createServer((request, response) => {
      request.socket.once('close', () => setImmediate(() => listener(request, response)));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { socket } = await connectRaw((server.address() as AddressInfo).port);
    socket.write(post(7), () => socket.resetAndDestroy());
    await until(() => events.length === 2);
    expect(events[1]?.[1]).toMatchObject({ bytes: 0, isWritten: false });
  });
});
