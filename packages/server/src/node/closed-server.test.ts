import { createMemoryRepository } from '@plantstore/core';
import { makeCertificate, requiresOpenssl } from '@plantstore/test-support/certificate';
import { memoryInUse } from '@plantstore/test-support/memory';
import { connectTls, sendRaw } from '@plantstore/test-support/raw-http';
import type { Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import {
  connectTo,
  goodFields,
  head,
  maxBodyBytes,
  open,
  post,
  responses,
} from '../../test/listen.ts';
import { startServer, type StartServerOptions } from './start-server.ts';

const running = async (more: Partial<StartServerOptions> = {}) => {
  const repository = createMemoryRepository();
  const started = await startServer({ repository, authenticate: () => true, port: 0, ...more });
  if (started.isErr()) throw new Error(started.error.message);
  const port = Number(new URL(started.value.url).port);
  return { ...started.value, repository, port };
};

const nextTurn = async () => new Promise(setImmediate);

it.each([60_000, Infinity])(
  'a server that is closed with the deadline %d is not kept in memory',
  async (deadlineMs) => {
    const close = async () => {
      const { repository, port, close: closeServer } = await running();
      expect((await sendRaw(port, post(1))).status).toBe(200);
      await closeServer(deadlineMs);
      return new WeakRef(repository);
    };
    const repository = await close();
    for (let turns = 0; turns < 50 && repository.deref() !== undefined; turns += 1) {
      await nextTurn();
      memoryInUse();
    }
    expect(repository.deref()).toBe(undefined);
  },
);

/** Stops the timers until the test ends. */
const stopTimers = (): void => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
};

const unwanted = head([...goodFields, `Content-Length: ${maxBodyBytes + 1}`]);

it.each<[string, (socket: Socket) => unknown, string]>([
  ['is ended after an unwanted body', (socket) => socket.destroy(), unwanted],
  ['is reset after an unwanted body', (socket) => socket.resetAndDestroy(), unwanted],
  ['is reset after bytes that are not HTTP', (socket) => socket.resetAndDestroy(), '<hi>\r\n\r\n'],
  ['is half-closed after the last response', (socket) => socket.end(), '<hi>\r\n\r\n'],
  ['has brought an unwanted body', (socket) => socket.end('x'.repeat(maxBodyBytes + 1)), unwanted],
])('a connection that %s is closed at once, and leaves no timer', async (_, close, bytes) => {
  const { socket, until, closed } = await open();
  stopTimers();
  socket.write(bytes);
  await until(responses(1));
  expect(vi.getTimerCount()).toBe(1);
  close(socket);
  await closed;
  await nextTurn();
  expect(vi.getTimerCount()).toBe(0);
});

it('a connection that is reset during its body is not counted, nor its request', async () => {
  const { port, usage, close } = await running();
  const { socket } = await connectTo(port);
  socket.write(`${head([...goodFields, 'Content-Length: 900'])}{`);
  await expect.poll(usage).toEqual({ connections: 1, inFlight: 1, cut: 0 });
  socket.resetAndDestroy();
  await expect.poll(usage).toEqual({ connections: 0, inFlight: 0, cut: 0 });
  await close(0);
});

it(
  'a TLS connection is counted once, and not when it is closed, also in its handshake',
  requiresOpenssl,
  async () => {
    const { port, usage, close } = await running({ tls: await makeCertificate() });
    const first = await connectTls(port);
    first.socket.write(post(1));
    await first.until(responses(1));
    expect(usage().connections).toBe(1);
    const second = await connectTo(port);
    await expect.poll(() => usage().connections).toBe(2);
    second.socket.destroy();
    await expect.poll(() => usage().connections).toBe(1);
    first.socket.destroy();
    await expect.poll(() => usage().connections).toBe(0);
    await close(0);
  },
);
