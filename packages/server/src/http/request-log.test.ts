import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import type { PlantRepository } from '@plantstore/core';
import { connectRaw, parseResponses, sendRaw } from '@plantstore/test-support/raw-http';
import { errAsync, ResultAsync } from 'neverthrow';
import { pino } from 'pino';
import { errorTable } from '@plantstore/core/errors';
import { describe, expect, it } from 'vitest';
import { chunked, goodFields, head, listen, plant, post, responses } from '../../test/listen.ts';
import { recordLog, until } from '@plantstore/test-support/record-log';

const withId = (id: string, bytes: string) => bytes.replace('\r\n', `\r\nX-Request-Id: ${id}\r\n`);

describe('request id', () => {
  it.each<[string, string]>([
    ['a plant', post(7)],
    ['an invalid body', chunked('nonsense')],
    ['an unwanted body', head([...goodFields, 'Content-Length: 5000'])],
    ['CONNECT', head(['Host: a:1'], 'CONNECT a:1 HTTP/1.1')],
  ])('the request id of the client is in the response and in the log: %s', async (_, bytes) => {
    const { logged, logger } = recordLog();
    const { port } = await listen({ logger });
    const { headers } = await sendRaw(port, withId('from-a.proxy:1/2', bytes));
    expect(headers['x-request-id']).toBe('from-a.proxy:1/2');
    expect(logged).toMatchObject([{ requestId: 'from-a.proxy:1/2' }]);
  });

  it.each<[string, string]>([
    ['the request has none', post(7)],
    ['a CONNECT request has none', head(['Host: a:1'], 'CONNECT a:1 HTTP/1.1')],
    ['its id is not well-formed', withId('{"level":"error"}', post(7))],
    ['the bytes are not HTTP', '<hello>\r\n\r\n'],
  ])(
    'the request id is generated if %s, and is in the response and in the log',
    async (_, bytes) => {
      const { logged, logger } = recordLog();
      const { port } = await listen({ logger });
      const { headers } = await sendRaw(port, bytes);
      expect(headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
      expect(logged).toMatchObject([{ requestId: headers['x-request-id'] }]);
    },
  );
});

describe('log line of a request', () => {
  it.each([
    ['at once', { tokenName: 'greenhouse' }],
    ['later', Promise.resolve({ tokenName: 'greenhouse' })],
  ])(
    'the log line of a request names the token that authenticate names %s, also if the request is refused',
    async (_, decision) => {
      const { logged, logger } = recordLog();
      const { port } = await listen({ logger, authenticate: () => decision });
      await sendRaw(port, post(7));
      await sendRaw(port, post(7).replace('application/json', 'text/plain'));
      expect(logged).toMatchObject([
        { status: 200, tokenName: 'greenhouse' },
        { status: 415, tokenName: 'greenhouse' },
      ]);
    },
  );

  it.each([undefined, null, 1, 'good', {}, { name: 'ada' }, { tokenName: 1 }, { then: 1 }])(
    'the log line of a request names no token, and the request is refused, if authenticate returns %j',
    async (decision) => {
      const { logged, logger } = recordLog();
      const { port } = await listen({ logger, authenticate: () => decision as never });
      await sendRaw(port, post(7));
      expect(logged).toMatchObject([{ status: 401, error: 2402 }]);
      expect(logged[0]).not.toHaveProperty('tokenName');
    },
  );

  it.each(['<hello>\r\n\r\n', post(7), head(['Host: a:1'], 'CONNECT a:1 HTTP/1.1')])(
    'the log line of a request has the address of the connection and not the one that the client sends: %j',
    async (bytes) => {
      const { logged, logger } = recordLog();
      const { port } = await listen({ logger, trustedProxies: ['192.0.2.0/24'] });
      await sendRaw(port, bytes.replace('\r\n', '\r\nX-Forwarded-For: 203.0.113.1\r\n'));
      expect(logged).toMatchObject([{ client: '127.0.0.1' }]);
    },
  );

  it('the log line of a request has the address that a trusted proxy names, in the last of its fields', async () => {
    const { logged, logger } = recordLog();
    const { port } = await listen({ logger, trustedProxies: ['127.0.0.0/8'] });
    const forwarded = ['203.0.113.1', '203.0.113.2, 127.0.0.9'].map(
      (list) => `X-Forwarded-For: ${list}\r\n`,
    );
    await sendRaw(port, post(7).replace('\r\n', `\r\n${forwarded.join('')}`));
    expect(logged).toMatchObject([{ client: '203.0.113.2' }]);
  });

  it('the log line of a request has the address of a connection that is lost before its response', async () => {
    const { logged, logger } = recordLog();
    const { port } = await listen({ logger });
    const { socket, until: untilReceived } = await connectRaw(port);
    socket.write(post(7));
    await untilReceived(responses(1));
    socket.write(head([...goodFields, 'Content-Length: 5']));
    socket.resetAndDestroy();
    await until(() => logged.length > 1);
    expect(logged[1]).toMatchObject({ message: 'request aborted', client: '127.0.0.1' });
  });

  it('the log line of a request has the size of the body in bytes, and the duration in milliseconds', async () => {
    const { logged, logger } = recordLog();
    const { port } = await listen({ logger });
    const body = JSON.stringify({ id: 7, name: 'Grünlilie' });
    const began = performance.now();
    const fields = [...goodFields, `Content-Length: ${Buffer.byteLength(body)}`];
    const { headers } = await sendRaw(port, head(fields) + body);
    const elapsedMs = performance.now() - began;
    expect(logged).toMatchObject([{ bytes: Number(headers['content-length']) }]);
    expect(logged[0]?.['durationMs']).toBeGreaterThan(0);
    expect(logged[0]?.['durationMs']).toBeLessThanOrEqual(elapsedMs);
    // Microseconds are the smallest unit.
    expect(String(logged[0]?.['durationMs'])).toMatch(/^\d+(\.\d{1,3})?$/);
  });

  it('the log line of a request has the method, path, status, error, size and duration', async () => {
    const { logged, logger } = recordLog();
    const { port } = await listen({ logger });
    await sendRaw(port, withId('a', post(7)));
    await sendRaw(port, withId('b', post(7).replace('good', 'bad')));
    const written = {
      method: 'POST',
      path: '/plants',
      client: '127.0.0.1',
      durationMs: expect.any(Number) as unknown,
    };
    expect(logged).toEqual([
      {
        ...written,
        level: 'info',
        message: 'request',
        requestId: 'a',
        status: 200,
        bytes: '{"name":"Monstera"}'.length,
      },
      {
        ...written,
        level: 'info',
        message: 'request',
        requestId: 'b',
        status: 401,
        error: 2402,
        bytes: JSON.stringify({ error: 2402, message: errorTable['token-rejected'].message })
          .length,
      },
    ]);
  });

  it.each<[string, string | undefined]>([
    ['/plants?access_token=s3cr3t', '/plants'],
    ['/plants#s3cr3t', '/plants'],
    ['http://user:s3cr3t@plants.example/plants?x', '/plants'],
    ['ftp://user:s3cr3t@plants.example/plants', undefined],
    ['*', '*'],
  ])('the log line of a request has only the path of the target %s', async (target, path) => {
    const { logged, logger } = recordLog();
    const { port } = await listen({ logger });
    await sendRaw(port, head(['Host: a'], `OPTIONS ${target} HTTP/1.1`));
    expect(logged[0]?.['path']).toBe(path);
    expect(Object.hasOwn(logged[0] ?? {}, 'path')).toBe(path !== undefined);
    expect(JSON.stringify(logged)).not.toContain('s3cr3t');
  });

  it('the log line of a request has at most 1024 characters of its path, and a mark for the rest', async () => {
    const { logged, logger } = recordLog();
    const { port } = await listen({ logger });
    const path = `/${'x'.repeat(1_023)}`;
    await sendRaw(port, head(['Host: a'], `GET ${path} HTTP/1.1`));
    await sendRaw(port, head(['Host: a'], `GET ${path}${path} HTTP/1.1`));
    expect(logged).toMatchObject([{ path }, { path: `${path}…` }]);
  });

  it('the log line of a HEAD request has no bytes, because its body is not sent', async () => {
    const { logged, logger } = recordLog();
    const { port } = await listen({ logger });
    const { socket, ended } = await connectRaw(port);
    socket.end(head(['Host: a'], 'HEAD /plants HTTP/1.1'));
    await ended;
    expect(logged).toMatchObject([{ method: 'HEAD', status: 405, bytes: 0 }]);
    socket.destroy();
  });

  it('the log line of a request is written once the response is, without waiting for an unwanted body', async () => {
    const logged: unknown[] = [];
    let peer: Socket | undefined;
    const log = (fields: object, message: string) => {
      logged.push({ ...fields, message, isOpen: peer?.destroyed === false });
    };
    const { server, port } = await listen({ logger: { info: log, warn: log, error: log } });
    server.on('connection', (socket) => {
      peer = socket;
    });
    const { socket, until: untilReceived } = await connectRaw(port);
    socket.write(head([...goodFields, 'Content-Length: 5000']));
    await untilReceived(responses(1));
    await until(() => logged.length > 0);
    expect(logged).toMatchObject([{ status: 413, message: 'request', isOpen: true }]);
    socket.destroy();
  });
});

describe('client that disconnects', () => {
  it('a client that disconnects is logged at info if it had no response', async () => {
    const { logged, logger } = recordLog();
    const { port } = await listen({ logger });
    const { socket } = await connectRaw(port);
    socket.write(head([...goodFields, 'Content-Length: 900', 'Expect: 100-continue']));
    await new Promise((resolve) => {
      socket.once('data', resolve);
    });
    socket.resetAndDestroy();
    await until(() => logged.length > 0);
    expect(logged).toMatchObject([{ level: 'info', message: 'request aborted', bytes: 0 }]);
    expect(logged[0]).not.toHaveProperty('status');
  });

  it('a client that disconnects does not suppress the log lines of an internal error and of its queued requests', async () => {
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const repository: PlantRepository = {
      create: () => {
        reached.resolve();
        return ResultAsync.fromSafePromise(
          gate.promise.then(() => {
            throw new Error('a bug');
          }),
        );
      },
    };
    const { logged, logger } = recordLog();
    const { port } = await listen({ repository, logger });
    const { socket } = await connectRaw(port);
    socket.write(withId('a', post(1)) + withId('b', post(2)) + withId('c', post(3)));
    await reached.promise;
    socket.resetAndDestroy();
    await sendRaw(port, withId('d', head(['Host: a'])));
    gate.resolve();
    await until(() => logged.length === 4);
    expect(logged.map(({ requestId, level }) => [requestId, level])).toEqual([
      ['d', 'info'],
      ['a', 'error'],
      // A connection that is not read does not show that its client has disconnected.
      ['b', 'error'],
      ['c', 'error'],
    ]);
    expect(logged[1]).toMatchObject({ status: 500 });
    expect(logged[1]?.['cause']).toContain('a bug');
  });
});

describe('log through pino', () => {
  const secret = { input: 'postgres://plants:s3cr3t@db/plants' };
  const thrown = Object.assign(new Error('refused', { cause: new TypeError('deep down') }), secret);
  const unavailable: PlantRepository = {
    create: () => errAsync({ kind: 'store-unavailable', reason: 'no database', cause: thrown }),
  };
  const broken: PlantRepository = {
    create: () => {
      throw thrown;
    },
  };

  it.each([
    [
      503,
      40,
      'request not served',
      /^no database\ncaused by: Error: refused\n {4}at .*/,
      unavailable,
    ],
    [500, 50, 'request failed', /^Error: refused\n {4}at .*/, broken],
  ])(
    'the log through pino has the cause of a %i with stacks, and no other property of the error',
    async (...row) => {
      const [status, level, msg, cause, repository] = row;
      const lines: string[] = [];
      const collect = new Writable({
        write(chunk: Buffer, _, done) {
          lines.push(chunk.toString());
          done();
        },
      });
      const { port } = await listen({ repository, logger: pino(collect) });
      expect((await sendRaw(port, post(7))).status).toBe(status);
      const line = JSON.parse(lines.join('')) as Record<string, unknown>;
      expect(line).toMatchObject({ level, msg, status, method: 'POST', path: '/plants' });
      expect(line['cause']).toMatch(cause);
      expect(line['cause']).toMatch(/\ncaused by: TypeError: deep down\n {4}at /);
      expect(lines.join('')).not.toContain('s3cr3t');
      expect(lines.join('')).not.toContain(plant(7));
      expect(lines.join('')).not.toContain('good');
    },
  );
});

it('pipelined requests are logged before their responses arrive', async () => {
  const { logged, logger } = recordLog();
  const { port } = await listen({ logger });
  const { socket, until: untilReceived } = await connectRaw(port);
  socket.write(post(1) + post(2));
  expect(parseResponses(await untilReceived(responses(2))).length).toBe(2);
  expect(logged.map(({ message }) => message)).toEqual(['request', 'request']);
  socket.destroy();
});
