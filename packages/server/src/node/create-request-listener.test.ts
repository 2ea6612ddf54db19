import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import {
  createServer,
  get,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemoryRepository } from '@plantstore/core';
import { memoryInUse } from '@plantstore/test-support/memory';
import { connectRaw, sendRaw } from '@plantstore/test-support/raw-http';
import { recordLog } from '@plantstore/test-support/record-log';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectTo, head, post, responses, statusesOf } from '../../test/listen.ts';
import { createRequestListener, type RequestListenerOptions } from './create-request-listener.ts';

const listenerWith = (options: Partial<RequestListenerOptions> = {}) =>
  createRequestListener({
    repository: createMemoryRepository(),
    authenticate: (token) => token === 'good',
    ...options,
  });

/** Listens on a free port, or on a path. */
const serve = async (listener: RequestListener, path?: string) => {
  const server = createServer(listener);
  if (path === undefined) server.listen(0, '127.0.0.1');
  else server.listen(path);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
};

/** Serves each request after an earlier listener. */
const serveAfter = async (
  earlier: (request: IncomingMessage, response: ServerResponse) => Promise<unknown>,
  options: Partial<RequestListenerOptions> = {},
) => {
  const listener = listenerWith(options);
  return serve((request, response) => {
    void earlier(request, response).then(() => listener(request, response));
  });
};

describe('earlier listener of the same server', () => {
  it.each<[string, number, (request: IncomingMessage) => Promise<unknown>]>([
    ['read the body', 500, async (request) => request.toArray()],
    [
      'read the start of the body',
      500,
      async (request) => once(request, 'readable').then(() => void request.read(1)),
    ],
    ['set an encoding', 500, async (request) => request.setEncoding('utf8')],
    ['paused the request', 200, async (request) => request.pause()],
  ])('an earlier listener may have %s, and the response is %i', async (_, status, earlier) => {
    expect((await sendRaw(await serveAfter(earlier), post(7))).status).toBe(status);
  });

  it('an earlier listener may have responded, and the next requests of the connection are served', async () => {
    let count = 0;
    const port = await serveAfter(
      async (_, response) => {
        count += 1;
        if (count > 150) return;
        response.writeHead(504, { 'Content-Length': '1' }).end('x');
        // Before and after the response is sent.
        if (count % 2 === 0) await once(response, 'close');
      },
      { maxInFlight: 1 },
    );
    const { socket, until } = await connectTo(port);
    for (let sent = 1; sent <= 152; sent += 1) {
      socket.write(post(sent));
      await until(responses(sent));
    }
    expect(statusesOf(await until(responses(152))).slice(-3)).toEqual([504, 200, 200]);
  });

  it('an earlier listener may take longer than its clients stay connected, and keeps nothing of them', async () => {
    const gate = Promise.withResolvers<void>();
    const port = await serveAfter(async () => gate.promise);
    const before = memoryInUse();
    const large = head(['Host: a', `X: ${'x'.repeat(12_000)}`, 'Content-Length: 9']);
    for (let count = 0; count < 300; count += 1) {
      const { socket } = await connectRaw(port);
      socket.write(large);
      socket.resetAndDestroy();
    }
    gate.resolve();
    expect((await sendRaw(port, post(7))).status).toBe(200);
    // The memory of closed connections is released some time after they are collected.
    await expect.poll(() => memoryInUse() - before).toBeLessThan(2_000_000);
  });
});

it.each([
  [['unix'], '203.0.113.1'],
  [['10.0.0.0/8'], undefined],
])(
  'createRequestListener that trusts %j logs, behind a proxy on a Unix socket, the client %s',
  async (trustedProxies, client) => {
    const folder = await mkdtemp(join(tmpdir(), 'plants-'));
    onTestFinished(async () => rm(folder, { recursive: true }));
    const { logged, logger } = recordLog();
    const socketPath = join(folder, 'plants.sock');
    await serve(listenerWith({ trustedProxies, logger }), socketPath);
    const headers = { 'X-Forwarded-For': '203.0.113.1' };
    get({ socketPath, path: '/plants', headers, agent: false }, (response) => response.resume());
    await expect.poll(() => logged).toMatchObject([{ status: 405 }]);
    expect(logged[0]?.['client']).toBe(client);
  },
);
