import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemoryRepository } from '@plantstore/core';
import { memoryInUse } from '@plantstore/test-support/memory';
import { connectRaw, parseResponses, sendRaw } from '@plantstore/test-support/raw-http';
import { errorTable } from '@plantstore/core/errors';
import { describe, expect, it, onTestFinished } from 'vitest';
import { head, listen, plant, post, responses } from '../../test/listen.ts';
import { recordLog } from '@plantstore/test-support/record-log';
import { createRequestListener, type RequestListenerOptions } from './create-request-listener.ts';

describe('internal error', () => {
  it('an internal error gets 500 without details, and is logged with the request but without the token', async () => {
    const { logged, logger } = recordLog();
    const { port } = await listen({
      logger,
      authenticate: (token) => {
        throw new Error(`the token service failed for ${token}`);
      },
    });
    const { status, body } = await sendRaw(port, post(7));
    expect({ status, body }).toEqual({
      status: 500,
      body: JSON.stringify({ error: 3500, message: errorTable.internal.message }),
    });
    expect(logged).toMatchObject([
      {
        message: 'request failed',
        status: 500,
        error: 3500,
        requestId: expect.stringMatching(/^[\w-]{36}$/) as unknown,
      },
    ]);
    expect(JSON.stringify(logged)).toContain('the token service failed for …');
    expect(JSON.stringify(logged)).not.toContain('good');
  });

  const token = 'a-token~with/signs+of_every.kind~~';
  it.each([
    ['as it is', token],
    ['in capitals', token.toUpperCase()],
    ['percent-encoded', encodeURIComponent(token)],
    ['percent-encoded in lower case', encodeURIComponent(token).toLowerCase()],
  ])(
    'an internal error is logged without the token if its message contains it %s',
    async (_, form) => {
      const { logged, logger } = recordLog();
      const authenticate = () => {
        throw new Error(`cannot verify ${form}.`);
      };
      const { port } = await listen({ logger, authenticate });
      const request = post(7).replace('Bearer good', `Bearer ${token}`);
      expect((await sendRaw(port, request)).status).toBe(500);
      expect(logged).toMatchObject([{ status: 500, message: 'request failed' }]);
      expect(JSON.stringify(logged)).toContain('cannot verify ….');
      expect(JSON.stringify(logged)).not.toContain(form);
    },
  );
});

describe('log of requests', () => {
  it('the log of requests has a line for each request, including those that Node refuses, and never a query', async () => {
    const { logged, logger } = recordLog();
    const { port } = await listen({ logger });
    await sendRaw(port, head(['Host: a'], 'GET /plants?access_token=s3cr3t HTTP/1.1'));
    await sendRaw(port, '<hello>\r\n\r\n');
    await sendRaw(port, head(['Host: a:1'], 'CONNECT a:1 HTTP/1.1'));
    expect(logged).toMatchObject([
      { path: '/plants', status: 405, error: 2405 },
      { status: 400, error: 1000 },
      { status: 404, error: 2404 },
    ]);
    expect(JSON.stringify(logged)).not.toContain('s3cr3t');
  });

  it.each<[string, () => void]>([
    [
      'throws',
      () => {
        throw new Error('the collector is unavailable');
      },
    ],
    // An unhandled rejection fails the run.
    ['rejects', async () => Promise.reject(new Error('the collector is unavailable'))],
  ])('a logger that %s does not affect responses', async (_, fail) => {
    const { port } = await listen({ logger: { info: fail, warn: fail, error: fail } });
    expect((await sendRaw(port, post(7))).status).toBe(200);
    expect((await sendRaw(port, '<hello>\r\n\r\n')).status).toBe(400);
  });
});

describe('body that an earlier listener has read', () => {
  it.each<[string, (request: IncomingMessage) => Promise<unknown>]>([
    ['completely', async (request) => request.toArray()],
    ['as text', async (request) => request.setEncoding('utf8')],
  ])('a body that an earlier listener has read gets 500: %s', async (_, readBefore) => {
    const listener = createRequestListener({
      repository: createMemoryRepository(),
      authenticate: () => true,
    });
    const server = createServer((request, response) => {
      void readBefore(request).then(() => listener(request, response));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect((await sendRaw(port, post(7))).status).toBe(500);
  });
});

describe('earlier listener of the same server', () => {
  /** Serves each request after an earlier listener. */
  const listenAfter = async (
    earlier: (request: IncomingMessage, response: ServerResponse) => Promise<unknown>,
    options: Partial<RequestListenerOptions> = {},
  ) => {
    const listener = createRequestListener({
      repository: createMemoryRepository(),
      authenticate: () => true,
      ...options,
    });
    const server = createServer((request, response) => {
      void earlier(request, response).then(() => listener(request, response));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return (server.address() as AddressInfo).port;
  };

  it('an earlier listener of the same server may have responded, and the next requests of the connection are served', async () => {
    let count = 0;
    const port = await listenAfter(async (_, response) => {
      count += 1;
      if (count > 150) return;
      response.writeHead(504, { 'Content-Length': '1' }).end('x');
      await once(response, 'close');
    });
    const { socket, until } = await connectRaw(port);
    for (let sent = 1; sent <= 152; sent += 1) {
      socket.write(post(sent));
      await until(responses(sent));
    }
    const statuses = parseResponses(await until(responses(152))).map(({ status }) => status);
    expect(statuses.slice(-3)).toEqual([504, 200, 200]);
    socket.destroy();
  });

  it('an earlier listener of the same server may have paused the request', async () => {
    const port = await listenAfter(async (request) => request.pause());
    expect((await sendRaw(port, post(7))).status).toBe(200);
  });

  it('an earlier listener of the same server may take longer than its clients stay connected, and keeps nothing of them', async () => {
    const gate = Promise.withResolvers<void>();
    const port = await listenAfter(async () => gate.promise);
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

describe('createRequestListener', () => {
  it.each(['proxy.example', '10.0.0.0/33', '10.0.0.0/', ''])(
    'createRequestListener throws a TypeError for the trusted proxy %j',
    (proxy) => {
      const options = { repository: createMemoryRepository(), authenticate: () => true };
      expect(() => createRequestListener({ ...options, trustedProxies: ['::1', proxy] })).toThrow(
        new TypeError('trustedProxies must be addresses, ranges such as 10.0.0.0/8, or unix'),
      );
    },
  );

  it('createRequestListener leaves a request that another listener has responded to, and serves the next one', async () => {
    const listener = createRequestListener({
      repository: createMemoryRepository(),
      authenticate: () => true,
      maxInFlight: 1,
    });
    let isFirst = true;
    const server = createServer((request, response) => {
      if (isFirst) response.writeHead(202, { 'Content-Length': 2 }).end('{}');
      isFirst = false;
      listener(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect((await sendRaw(port, post(7))).status).toBe(202);
    expect((await sendRaw(port, post(8))).status).toBe(200);
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
      const repository = createMemoryRepository();
      const options = { repository, authenticate: () => true, trustedProxies, logger };
      const server = createServer(createRequestListener(options));
      const socketPath = join(folder, 'plants.sock');
      server.listen(socketPath);
      await once(server, 'listening');
      onTestFinished(() => void server.close());
      const headers = { 'X-Forwarded-For': '203.0.113.1' };
      const [response] = (await once(
        get({ socketPath, path: '/plants', headers, agent: false }),
        'response',
      )) as [IncomingMessage];
      response.resume();
      await expect.poll(() => logged).toMatchObject([{ status: 405 }]);
      expect(logged[0]?.['client']).toBe(client);
    },
  );

  it('createRequestListener can be combined with the request listener in any node:http server', async () => {
    const server = createServer(
      createRequestListener({
        repository: createMemoryRepository(),
        authenticate: (token) => token === 'good',
        basePath: '/garden',
      }),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const send = async (path: string) =>
      fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        headers: { Authorization: 'Bearer good', 'Content-Type': 'application/json' },
        body: plant(7),
      });
    expect(await (await send('/garden/plants')).json()).toEqual({ name: 'Monstera' });
    expect((await send('/plants')).status).toBe(404);
  });
});
