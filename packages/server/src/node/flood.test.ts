import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { createMemoryRepository } from '@plantstore/core';
import { makeCertificate, requiresOpenssl } from '@plantstore/test-support/certificate';
import { memoryInUse } from '@plantstore/test-support/memory';
import { sendRaw } from '@plantstore/test-support/raw-http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { head, listen, post } from '../../test/listen.ts';
import { startServer } from './start-server.ts';

const clientCount = 3;
const batchBytes = 65_536;
const maxBatches = 10;

const nextTurn = async () => new Promise(setImmediate);

/** Sends a prefix and then the same bytes repeatedly, up to 640 KiB, and reads no response. */
const flood = async (socket: Socket, prefix: string, repeated: string): Promise<Socket> => {
  socket.pause();
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  socket.write(prefix);
  const batch = Buffer.from(repeated.repeat(Math.ceil(batchBytes / repeated.length)));
  for (let count = 0; count < maxBatches && !socket.destroyed; count += 1) {
    // The server has stopped reading.
    if (socket.writableLength > 2 * batchBytes) break;
    socket.write(batch);
    for (let turns = 0; turns < 200 && socket.writableLength > 0; turns += 1) await nextTurn();
  }
  return socket;
};

const get = head(['Host: a'], 'GET / HTTP/1.1');
const bad = ['Host: a', 'Authorization: Bearer bad', 'Content-Type: application/json'];
const unauthenticated = `${head(['Host: a', 'Content-Length: 2'])}{}`;
const rejected = `${head([...bad, 'Content-Length: 2'])}{}`;
const chunkedHead = head([...bad, 'Transfer-Encoding: chunked']);

const floods: [what: string, prefix: string, repeated: string][] = [
  ['requests without a token', '', unauthenticated],
  ['requests after one that ends the connection', head(['Host: a', 'Connection: close']), get],
  ['endless header fields', 'GET / HTTP/1.1\r\n', 'a:b\r\n'],
  ['requests after CONNECT', head(['Host: a:1'], 'CONNECT a:1 HTTP/1.1'), get],
  ['a body in chunks of one byte', chunkedHead, '1\r\n{\r\n'],
  ['bodies in chunks of one byte', '', `${chunkedHead}${'1\r\n{\r\n'.repeat(9_000)}0\r\n\r\n`],
];

describe('unauthenticated clients that flood a server and read nothing', () => {
  const expectBounded = async (
    connectOne: () => Socket,
    [, prefix, repeated]: (typeof floods)[number],
  ) => {
    const before = memoryInUse();
    const sockets = Array.from({ length: clientCount }, connectOne);
    await Promise.all(sockets.map(async (socket) => flood(socket, prefix, repeated)));
    expect((memoryInUse() - before) / clientCount).toBeLessThan(6_000_000);
  };

  it.each(floods)(
    'unauthenticated clients that flood a server and read nothing take a bounded amount of memory: %s',
    async (...flooding) => {
      const { port } = await listen();
      await expectBounded(() => connect(port, '127.0.0.1'), flooding);
      expect((await sendRaw(port, post(1))).status).toBe(200);
    },
  );

  it('unauthenticated clients that flood a server and read nothing take a bounded amount of memory while their token is checked', async () => {
    const { port } = await listen({ authenticate: async () => new Promise(() => {}) });
    await expectBounded(() => connect(port, '127.0.0.1'), ['', chunkedHead, '1\r\n{\r\n']);
  });

  it(
    'unauthenticated clients that flood a server and read nothing take a bounded amount of memory over TLS',
    requiresOpenssl,
    async () => {
      const { port } = await listen({ tls: await makeCertificate() });
      const options = { port, host: '127.0.0.1', rejectUnauthorized: false };
      await expectBounded(() => connectSecurely(options), ['requests', '', unauthenticated]);
    },
  );

  it('unauthenticated clients that flood a server and read nothing do not delay close() beyond its deadline', async () => {
    const started = await startServer({
      repository: createMemoryRepository(),
      authenticate: () => false,
      port: 0,
    });
    if (started.isErr()) throw new Error(started.error.message);
    const port = Number(new URL(started.value.url).port);
    const flooding = flood(connect(port, '127.0.0.1'), '', rejected);
    for (let turns = 0; turns < 50; turns += 1) await nextTurn();
    await started.value.close(100);
    const socket = (await flooding).resume();
    // Not by once() of node:events, which fails for a reset.
    if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  });
});
