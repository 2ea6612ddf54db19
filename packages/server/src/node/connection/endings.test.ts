import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, pipeline } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createMemoryRepository } from '@plantstore/core';
import { makeCertificate, requiresOpenssl } from '@plantstore/test-support/certificate';
import type { RawConnection } from '@plantstore/test-support/raw-http';
import { recordLog } from '@plantstore/test-support/record-log';
import { expect, it, onTestFinished } from 'vitest';
import {
  connectTo,
  goodFields,
  head,
  post,
  recordPlants,
  responses,
  statusesOf,
  untimed,
} from '../../../test/listen.ts';
import { onDemand } from '../../../test/on-demand.ts';
import { createServerParts, type HttpServerOptions } from '../create-http-server.ts';
import { maxWaiting } from './connection.ts';

/** Starts a server, and connects a client that leaves its own side open. */
const connect = async (options: Partial<HttpServerOptions> = {}, first?: RequestListener) => {
  const { server, connections } = createServerParts({
    repository: createMemoryRepository(),
    authenticate: (token) => token === 'good',
    ...untimed,
    ...options,
  });
  if (first !== undefined) server.prependListener('request', first);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => connections.stop(0));
  const client = await connectTo((server.address() as AddressInfo).port);
  return { ...client, stop: async (deadlineMs: number) => connections.stop(deadlineMs) };
};

/**
 * Returns what the client notices once the connection has ended: `dropped` if it can still send, and
 * both sides close; `lost` if it is reset as soon as it sends.
 */
const effectOn = async ({ socket, ended }: Pick<RawConnection, 'socket' | 'ended'>, more = 'x') => {
  const closed = new Promise<boolean>((resolve) => void socket.once('close', resolve));
  const received = await ended;
  for (let packets = 0; packets < 3 && socket.writable; packets += 1) {
    socket.write(more);
    await nextTurn();
  }
  socket.end();
  const hadError = await closed;
  return { effect: hadError ? 'lost' : 'dropped', statuses: statusesOf(received) };
};

const get = head(['Host: a'], 'GET / HTTP/1.1');
const closing = post(7).replace('Host', 'Connection: close\r\nHost');

it.each<[string, string, number[], Partial<HttpServerOptions>?]>([
  ['the last response', get + closing, [404, 200]],
  [
    'a response before the rest of its request',
    head(['Host: a', 'Content-Length: 9999999']),
    [401],
  ],
  ['a parse error', `${get}<hello>\r\n\r\n`, [404, 400]],
  ['a parse error in a body', `${head([...goodFields, 'Transfer-Encoding: chunked'])}x`, [400]],
  ['a timeout', `${get}GET /`, [404, 408], { headersTimeoutMs: 100 }],
  ['CONNECT', get + head(['Host: a:1'], 'CONNECT a:1 HTTP/1.1'), [404, 404]],
])(
  'input is dropped after %s, and all responses can be read',
  async (_, bytes, statuses, options) => {
    const client = await connect(options);
    client.socket.write(bytes);
    if (statuses[0] === 401) {
      await client.until(responses(1));
      client.socket.write('x'.repeat(9_999_999));
    }
    expect(await effectOn(client)).toEqual({ effect: 'dropped', statuses });
  },
);

it('input is dropped after a request that another listener has destroyed behind its response', async () => {
  const seen = Promise.withResolvers<IncomingMessage>();
  const client = await connect({}, seen.resolve);
  client.socket.write(head(['Host: a', 'Authorization: Bearer bad', 'Content-Length: 2000']));
  await client.until(responses(1));
  const target = new PassThrough();
  pipeline(await seen.promise, target, () => {});
  target.destroy();
  expect(await effectOn(client)).toEqual({ effect: 'dropped', statuses: [401] });
});

it('input is dropped after the last response of another listener, so that no plant is stored', async () => {
  const { repository, created } = recordPlants();
  const client = await connect({ repository }, ({ method }, response) => {
    if (method === 'GET')
      response.writeHead(200, { 'Content-Length': 0, Connection: 'close' }).end();
  });
  client.socket.write(get);
  expect(await effectOn(client, post(7))).toEqual({ effect: 'dropped', statuses: [200] });
  expect(created).toEqual([]);
});

it('input is dropped after a last response that waits for one of another listener, and both can be read', async () => {
  const sent: ServerResponse[] = [];
  const client = await connect({}, ({ method }, response) => {
    if (method === 'GET') sent.push(response.writeHead(200, { 'Content-Length': 0 }));
  });
  client.socket.write(get + head(['Host: /']));
  await expect.poll(() => sent.length).toBe(1);
  const peer = sent[0]?.socket;
  // Alone, because every request of a packet is parsed.
  client.socket.write(get);
  await expect.poll(() => sent.length).toBe(2);
  client.socket.write(get.repeat(maxWaiting));
  await expect.poll(() => peer?.bytesRead).toBe(client.socket.bytesWritten);
  sent[0]?.end();
  expect(await effectOn(client)).toEqual({ effect: 'dropped', statuses: [200, 400] });
});

it.each([
  ['at once', '', []],
  ['after the responses before it', get, [200]],
])(
  'a connection is lost with a response that conflicts with a field of another listener, %s',
  async (_, before, statuses) => {
    const sent = Promise.withResolvers<ServerResponse>();
    const client = await connect({}, ({ method }, response) => {
      if (method === 'GET') sent.resolve(response.writeHead(200, { 'Content-Length': 0 }));
      else response.setHeader('Trailer', 'x');
    });
    client.socket.write(before + head(['Host: a']));
    if (before !== '') (await sent.promise).end();
    expect(await effectOn(client)).toEqual({ effect: 'lost', statuses });
  },
);

it('a connection is lost if its client does not read the responses before a CONNECT', async () => {
  const timedOut = Promise.withResolvers<void>();
  const timeouts = { requestTimeoutMs: 100, handlerTimeoutMs: 100 };
  const client = await connect(timeouts, ({ socket }, response) => {
    socket.once('timeout', timedOut.resolve);
    response.end('x'.repeat(20_000_000));
  });
  client.socket.pause();
  client.socket.write(get + head(['Host: a:1'], 'CONNECT a:1 HTTP/1.1'));
  await timedOut.promise;
  client.socket.resume();
  expect(await effectOn(client)).toEqual({ effect: 'lost', statuses: [200] });
});

it('a connection is lost with a request above the maximum', async () => {
  const client = await connect({ repository: onDemand().repository });
  client.socket.write(post(7).repeat(maxWaiting + 1));
  expect(await effectOn(client)).toEqual({ effect: 'lost', statuses: [] });
});

it.each([
  ['has no TLS', get],
  ['is too slow', ''],
])(
  'a connection is lost whose TLS handshake fails because its client %s, without a response',
  requiresOpenssl,
  async (_, bytes) => {
    const { logged, logger } = recordLog();
    const tls = await makeCertificate();
    const client = await connect({ tls, headersTimeoutMs: 100, logger });
    client.socket.write(bytes);
    expect(await effectOn(client)).toMatchObject({ effect: 'lost' });
    // Unless it is lost at once, a response in plain text would be attempted, and logged.
    expect(logged).toMatchObject([{ message: 'no TLS handshake' }]);
  },
);

it.each([
  ['has sent nothing', '', [], false],
  ['has all of its responses', get, [404], false],
  ['is in its TLS handshake', '', [], true],
])('a connection is lost at a stop if its client %s', requiresOpenssl, async (...row) => {
  const [, bytes, statuses, isTls] = row;
  const client = await connect(isTls ? { tls: await makeCertificate() } : {});
  client.socket.write(bytes);
  if (bytes !== '') await client.until(responses(1));
  void client.stop(Infinity);
  expect(await effectOn(client)).toEqual({ effect: 'lost', statuses });
});

it('a connection is lost at the deadline of a stop', async () => {
  const { repository, until } = onDemand();
  const client = await connect({ repository });
  client.socket.write(get + post(7));
  await until(1);
  void client.stop(10);
  expect(await effectOn(client)).toEqual({ effect: 'lost', statuses: [404] });
});
