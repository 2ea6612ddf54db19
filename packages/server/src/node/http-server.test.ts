import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import { type ErrorName, errorTable } from '@plantstore/core/errors';
import { ResultAsync } from 'neverthrow';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectRaw, parseResponses, sendRaw } from '../../test/raw-http.ts';
import { createHttpServer, type HttpServerOptions } from './http-server.ts';
import { createRequestListener } from './request-listener.ts';

const maxBodyBytes = 1000;

const listen = async (options: Partial<HttpServerOptions> = {}) => {
  const server = createHttpServer({
    repository: createMemoryRepository(),
    authenticate: (token) => token === 'good',
    maxBodyBytes,
    ...options,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { server, port: (server.address() as AddressInfo).port };
};

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const memoryInUse = () => {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

const plant = (id: number) => `{"id":${id},"name":"Monstera"}`;

const head = (fields: readonly string[], line = 'POST /plants HTTP/1.1') =>
  [line, ...fields, '', ''].join('\r\n');

const goodFields = [
  'Host: localhost',
  'Authorization: Bearer good',
  'Content-Type: application/json',
] as const;

const post = (id: number) =>
  head([...goodFields, `Content-Length: ${plant(id).length}`]) + plant(id);

const chunked = (...chunks: string[]) =>
  head([...goodFields, 'Transfer-Encoding: chunked']) +
  [...chunks, ''].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');

const errorOf = (body: string) => (JSON.parse(body) as { error: number }).error;

const responses = (count: number) => (text: string) => {
  const found = parseResponses(text);
  return found.length >= count && (found.at(-1)?.body.length ?? 0) > 0;
};

describe('the HTTP server', () => {
  it('creates a plant', async () => {
    const { port } = await listen();
    const { status, headers, body } = await sendRaw(port, post(7));
    expect({ status, body }).toEqual({ status: 200, body: '{"name":"Monstera"}' });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': '19',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      date: expect.stringMatching(/GMT$/) as unknown,
    });
  });

  it('takes a chunked body', async () => {
    const { port } = await listen();
    expect((await sendRaw(port, chunked('{"id":7,', '"name":"x"}'))).status).toBe(200);
  });

  it('keeps the connection after an answer, an error included', async () => {
    const { port } = await listen();
    const { socket, until } = await connectRaw(port);
    const requests = [
      post(7),
      head(['Host: x'], 'GET / HTTP/1.1'),
      head([...goodFields.slice(0, 1), 'Content-Length: 3']) + 'abc',
      post(8),
    ];
    for (const [index, bytes] of requests.entries()) {
      socket.write(bytes);
      await until(responses(index + 1));
    }
    expect(parseResponses(await until(responses(4))).map(({ status }) => status)).toEqual([
      200, 404, 401, 200,
    ]);
    socket.destroy();
  });

  it('answers pipelined requests in their order, however long each takes', async () => {
    const inner = createMemoryRepository();
    const repository: PlantRepository = {
      create: (newPlant) =>
        ResultAsync.fromSafePromise(
          new Promise((resolve) => {
            setTimeout(resolve, newPlant.id === 1n ? 50 : 0);
          }),
        ).andThen(() => inner.create(newPlant)),
    };
    const { port } = await listen({ repository });
    const { socket, until } = await connectRaw(port);
    socket.write(
      post(1) + post(2) + head(['Host: x'], 'GET /plants HTTP/1.1') + 'BREW / HTTP/1.1\r\n\r\n',
    );
    const told = parseResponses(await until(responses(4))).map(({ status }) => status);
    expect(told).toEqual([200, 200, 405, 501]);
    socket.destroy();
  });

  it.each<[ErrorName, string, string]>([
    ['bad-request', 'what is not HTTP', 'hello\r\n\r\n'],
    ['bad-request', 'a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['bad-request', 'a request line without a version', 'BREW /plants\r\n\r\n'],
    ['bad-request', 'a version HTTP does not have', 'GET /plants HTTP/7.7\r\n\r\n'],
    ['bad-request', 'no Host', head([], 'GET /plants HTTP/1.1')],
    ['bad-request', 'two Hosts', head(['Host: a', 'Host: a'], 'GET /plants HTTP/1.1')],
    ['bad-request', 'a space before a colon', head(['Host : a'], 'GET /plants HTTP/1.1')],
    ['bad-request', 'a folded header', head(['Host: a', 'X: b', ' c'], 'GET /plants HTTP/1.1')],
    ['bad-request', 'two lengths', head([...goodFields, 'Content-Length: 1', 'Content-Length: 1'])],
    ['bad-request', 'a length that is no number', head([...goodFields, 'Content-Length: x'])],
    [
      'bad-request',
      'a length and chunks',
      head([...goodFields, 'Content-Length: 1', 'Transfer-Encoding: chunked']),
    ],
    [
      'bad-request',
      'chunks and a length',
      head([...goodFields, 'Transfer-Encoding: chunked', 'Content-Length: 1']),
    ],
    [
      'bad-request',
      'a broken chunk',
      `${head([...goodFields, 'Transfer-Encoding: chunked'])}x\r\n`,
    ],
    ['path-unknown', 'CONNECT', head(['Host: a:1'], 'CONNECT a:1 HTTP/1.1')],
    ['path-unknown', 'the asterisk', head(['Host: a'], 'OPTIONS * HTTP/1.1')],
    ['method-not-allowed', 'TRACE', head(['Host: a'], 'TRACE /plants HTTP/1.1')],
    [
      'method-not-allowed',
      'an upgrade',
      head(['Host: a', 'Connection: Upgrade', 'Upgrade: websocket'], 'GET /plants HTTP/1.1'),
    ],
    [
      'expectation-failed',
      'another expectation',
      head([...goodFields, 'Expect: miracles', 'Content-Length: 3']),
    ],
    ['headers-too-large', 'headers past the limit', head(['Host: a', `X: ${'x'.repeat(20_000)}`])],
    [
      'headers-too-large',
      'very many headers',
      head(['Host: a', ...Array<string>(5000).fill('X: y')]),
    ],
    ['not-implemented', 'a method HTTP does not know', head(['Host: a'], 'BREW /plants HTTP/1.1')],
    [
      'not-implemented',
      'another transfer encoding',
      head([...goodFields, 'Transfer-Encoding: gzip']),
    ],
    [
      'not-implemented',
      'two transfer encodings',
      head([...goodFields, 'Transfer-Encoding: gzip, chunked']),
    ],
  ])('answers %s to %s, as JSON with the promised headers', async (name, _, bytes) => {
    const { port } = await listen();
    const { status, headers, body } = await sendRaw(port, bytes);
    expect({ status, error: errorOf(body) }).toEqual({
      status: errorTable[name].status,
      error: errorTable[name].error,
    });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(body.length),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      date: expect.stringMatching(/GMT$/) as unknown,
    });
  });

  it('ends the connection after HTTP that it cannot parse', async () => {
    const { port } = await listen();
    const { socket, ended } = await connectRaw(port);
    socket.write('hello\r\n\r\n');
    const [response] = parseResponses(await ended);
    expect(response).toMatchObject({ status: 400, headers: { connection: 'close' } });
    socket.destroy();
  });

  it('answers 408 to a head and to a body that are too slow', async () => {
    const { port } = await listen({ headersTimeoutMs: 100, requestTimeoutMs: 200 });
    const begun = [
      'POST /plants HT',
      head([...goodFields, 'Content-Length: 10']),
      `${head([...goodFields, 'Content-Length: 10'])}{"id"`,
    ];
    const waited = begun.map(async (bytes) => {
      const { socket, ended } = await connectRaw(port);
      socket.write(bytes);
      const [response] = parseResponses(await ended);
      socket.destroy();
      return response;
    });
    for (const response of await Promise.all(waited)) {
      expect(response).toMatchObject({ status: 408, headers: { connection: 'close' } });
      expect(errorOf(response?.body ?? '')).toBe(2408);
    }
  });

  it('answers HEAD without a body', async () => {
    const { port } = await listen();
    const { socket, until } = await connectRaw(port);
    socket.write(head(['Host: a', 'Connection: close'], 'HEAD /plants HTTP/1.1'));
    expect(await until((text) => text.endsWith('\r\n\r\n'))).toMatch(/^HTTP\/1.1 405 /);
    socket.destroy();
  });
});

describe('a body past the limit', () => {
  const postLarge = async (port: number, size: number, headers: Record<string, string>) =>
    new Promise<{ status: number; body: string; connection: string | undefined }>(
      (resolve, reject) => {
        const request = httpRequest({
          port,
          host: '127.0.0.1',
          method: 'POST',
          path: '/plants',
          headers: { Authorization: 'Bearer good', 'Content-Type': 'application/json', ...headers },
        });
        request.on('error', reject);
        request.on('response', (response) => {
          let body = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => (body += chunk));
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              body,
              connection: response.headers.connection,
            }),
          );
        });
        request.end('x'.repeat(size));
      },
    );

  it.each([
    ['declared', { 'Content-Length': '5000000' }],
    ['chunked', { 'Transfer-Encoding': 'chunked' }],
  ])('gets an answer that the client can read when it is %s', async (_, headers) => {
    const { port } = await listen();
    const { status, body, connection } = await postLarge(port, 5_000_000, headers);
    expect({ status, error: errorOf(body), connection }).toEqual({
      status: 413,
      error: 2413,
      connection: 'close',
    });
  });

  it('gets it also when the client sends everything before it reads', async () => {
    const { port } = await listen();
    const { socket, until } = await connectRaw(port);
    socket.pause();
    const size = 20_000_000;
    socket.write(head([...goodFields, `Content-Length: ${size}`]));
    await new Promise<void>((resolve, reject) => {
      socket.write(Buffer.alloc(size, ' '), (error) => (error ? reject(error) : resolve()));
    });
    socket.resume();
    expect(parseResponses(await until(responses(1)))).toMatchObject([{ status: 413 }]);
    socket.destroy();
  });

  it('is taken to the byte', async () => {
    const { port } = await listen();
    const padded = (size: number) => plant(7).padEnd(size, ' ');
    expect((await sendRaw(port, chunked(padded(maxBodyBytes)))).status).toBe(200);
    expect((await sendRaw(port, chunked(padded(maxBodyBytes), ' '))).status).toBe(413);
  });
});

describe('Expect: 100-continue', () => {
  const expecting = (fields: readonly string[]) =>
    head([...fields, 'Expect: 100-continue', `Content-Length: ${plant(7).length}`]);

  it('gets 100 and then the answer when the request would be accepted', async () => {
    const { port } = await listen();
    const { socket, until } = await connectRaw(port);
    socket.write(expecting(goodFields));
    expect(await until((text) => text.includes('\r\n\r\n'))).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(plant(7));
    const told = parseResponses(await until(responses(2)));
    expect(told.map(({ status }) => status)).toEqual([100, 200]);
    socket.destroy();
  });

  it.each([
    [401, ['Host: a', 'Content-Type: application/json']],
    [401, ['Host: a', 'Authorization: Bearer bad', 'Content-Type: application/json']],
    [415, ['Host: a', 'Authorization: Bearer good']],
  ])('gets %i at once, without 100, and the connection ends', async (status, fields) => {
    const { port } = await listen();
    const { socket, until } = await connectRaw(port);
    socket.write(expecting(fields));
    const told = parseResponses(await until(responses(1)));
    expect(told).toMatchObject([{ status, headers: { connection: 'close' } }]);
    socket.destroy();
  });
});

describe('a stranger', () => {
  it('has the answer before any of the body is sent', async () => {
    const { port } = await listen();
    const { socket, until } = await connectRaw(port);
    socket.write(head(['Host: a', 'Content-Type: application/json', 'Content-Length: 900']));
    expect(parseResponses(await until(responses(1)))).toMatchObject([{ status: 401 }]);
    socket.destroy();
  });

  it.each([
    ['within the limit', 200_000_000],
    ['past the limit', 1000],
  ])('has nothing of a body kept in memory (%s)', async (_, limit) => {
    const { port } = await listen({ maxBodyBytes: limit });
    const { socket, until } = await connectRaw(port);
    socket.write(head(['Host: a', 'Content-Type: application/json', 'Content-Length: 100000000']));
    await until(responses(1));
    const megabyte = Buffer.alloc(1_000_000);
    const before = memoryInUse();
    for (let sent = 0; sent < 60; sent += 1) {
      await new Promise<void>((resolve) => {
        socket.write(megabyte, () => resolve());
      });
    }
    // The memory of dropped buffers is given back some time after their collection.
    await expect.poll(() => memoryInUse() - before, { timeout: 4_000 }).toBeLessThan(20_000_000);
    socket.destroy();
  });
});

describe('a fault of ours', () => {
  it('is a 500 without a detail, and the log has it with the request, without the token', async () => {
    const logged: unknown[] = [];
    const note = (fields: object, message: string) => void logged.push({ ...fields, message });
    const { port } = await listen({
      logger: { info: note, warn: note, error: note },
      authenticate: (token) => {
        throw new Error(`the token service fell over ${token}`);
      },
    });
    const { status, body } = await sendRaw(port, post(7));
    expect({ status, body }).toEqual({
      status: 500,
      body: '{"error":3500,"message":"something went wrong in the service"}',
    });
    expect(logged).toMatchObject([
      {
        message: 'request failed',
        status: 500,
        error: 3500,
        requestId: expect.stringMatching(/^[\w-]{36}$/) as unknown,
      },
    ]);
    expect(JSON.stringify(logged)).toContain('the token service fell over (token)');
    expect(JSON.stringify(logged)).not.toContain('good');
  });
});

describe('a client that leaves', () => {
  it('does no harm in the middle of its body, before its answer, or after CONNECT', async () => {
    const { port } = await listen();
    const begun = [
      head([...goodFields, 'Content-Length: 900']),
      post(7),
      'hello\r\n\r\n',
      ...Array<string>(50).fill(head(['Host: a:1'], 'CONNECT a:1 HTTP/1.1')),
    ];
    for (const bytes of begun) {
      const { socket } = await connectRaw(port);
      socket.write(bytes, () => socket.resetAndDestroy());
      await once(socket, 'close');
    }
    expect((await sendRaw(port, post(8))).status).toBe(200);
  });
});

describe('createRequestListener', () => {
  it('works in any Node server', async () => {
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
