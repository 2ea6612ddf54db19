import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createMemoryRepository } from '@plantstore/core';
import { requiresOpenssl, makeCertificate } from '@plantstore/test-support/certificate';
import { memoryInUse } from '@plantstore/test-support/memory';
import { connectRaw, connectTls, sendRaw } from '@plantstore/test-support/raw-http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { goodFields, head, listen, maxBodyBytes, post, responses } from '../../test/listen.ts';
import { startServer, type StartServerOptions } from './start-server.ts';

const options = { authenticate: () => true, port: 0 };

const running = async (more: Partial<StartServerOptions> = {}) => {
  const repository = createMemoryRepository();
  const started = await startServer({ ...options, repository, ...more });
  if (started.isErr()) throw new Error(started.error.message);
  return { ...started.value, repository };
};

const nextTurn = async () => new Promise(setImmediate);

describe('a server that is closed', () => {
  it.each([
    ['with a deadline', 60_000],
    ['without a deadline', Infinity],
  ])('a server that is closed %s is not kept in memory', async (_, deadlineMs) => {
    const close = async () => {
      const { repository, url, close: closeServer } = await running();
      expect((await sendRaw(Number(new URL(url).port), post(1))).status).toBe(200);
      await closeServer(deadlineMs);
      return new WeakRef(repository);
    };
    const repository = await close();
    for (let turns = 0; turns < 50 && repository.deref() !== undefined; turns += 1) {
      await nextTurn();
      memoryInUse();
    }
    expect(repository.deref()).toBe(undefined);
  });
});

/** Opens a connection to a new server; `peer` is its socket in the server. */
const connect = async () => {
  const { server, port } = await listen();
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const { socket, until } = await connectRaw(port);
  const [peer] = await accepted;
  return { socket, until, peer };
};

/** Stops the timers until the test ends. */
const stopTimers = (): void => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
};

describe('a connection that is closed', () => {
  const unwanted = head([...goodFields, 'Content-Length: 1000000']);
  it.each<[string, (socket: Socket) => unknown, string]>([
    ['ends after an unwanted body', (socket) => socket.destroy(), unwanted],
    ['resets after an unwanted body', (socket) => socket.resetAndDestroy(), unwanted],
    ['resets after bytes that are not HTTP', (socket) => socket.resetAndDestroy(), '<hi>\r\n\r\n'],
  ])('a connection that its client %s leaves no timer', async (_, close, bytes) => {
    const { socket, until, peer } = await connect();
    stopTimers();
    socket.write(bytes);
    await until(responses(1));
    expect(vi.getTimerCount()).toBe(1);
    const closed = new Promise((resolve) => peer.once('close', resolve));
    close(socket);
    await closed;
    await nextTurn();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('a connection is closed as soon as its client has sent an unwanted body', async () => {
    const { port } = await listen();
    const { socket, until, ended } = await connectRaw(port);
    // No timer ends the wait for the body.
    stopTimers();
    socket.write(head([...goodFields, `Content-Length: ${maxBodyBytes + 1}`]));
    await until(responses(1));
    socket.write('x'.repeat(maxBodyBytes + 1));
    await ended;
    socket.destroy();
  });

  it('a connection is closed as soon as its client half-closes it after the last response', async () => {
    const { socket, until, peer } = await connect();
    // No timer ends the wait for the client.
    stopTimers();
    const closed = once(peer, 'close');
    socket.write('<hi>\r\n\r\n');
    await until(responses(1));
    socket.end();
    await closed;
  });

  it('a connection that is reset during its body has no request in flight', async () => {
    const { url, usage, close } = await running();
    const { socket } = await connectRaw(Number(new URL(url).port));
    socket.write(`${head([...goodFields, 'Content-Length: 900'])}{`);
    await expect.poll(() => usage().inFlight).toBe(1);
    socket.resetAndDestroy();
    await expect.poll(() => usage().inFlight).toBe(0);
    await close(0);
  });

  it('a connection that is closed is not counted', async () => {
    const { url, usage, close } = await running();
    const { socket } = await connectRaw(Number(new URL(url).port));
    await expect.poll(() => usage().connections).toBe(1);
    socket.destroy();
    await expect.poll(() => usage().connections).toBe(0);
    await close(0);
  });

  it(
    'a TLS connection is counted once, and not when it is closed, also in its handshake',
    requiresOpenssl,
    async () => {
      const { url, usage, close } = await running({ tls: await makeCertificate() });
      const port = Number(new URL(url).port);
      const first = await connectTls(port);
      first.socket.write(post(1));
      await first.until(responses(1));
      expect(usage().connections).toBe(1);
      const second = await connectRaw(port);
      await expect.poll(() => usage().connections).toBe(2);
      second.socket.destroy();
      await expect.poll(() => usage().connections).toBe(1);
      first.socket.destroy();
      await expect.poll(() => usage().connections).toBe(0);
      await close(0);
    },
  );
});
