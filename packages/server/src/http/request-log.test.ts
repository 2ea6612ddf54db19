import { Writable } from 'node:stream';
import type { PlantRepository } from '@plantstore/core';
import { errorTable } from '@plantstore/core/errors';
import { sendRaw } from '@plantstore/test-support/raw-http';
import { recordLog, until } from '@plantstore/test-support/record-log';
import { ResultAsync } from 'neverthrow';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import {
  chunked,
  goodFields,
  head,
  listen,
  open,
  plant,
  post,
  responses,
} from '../../test/listen.ts';

const withId = (id: string, bytes: string) => bytes.replace('\r\n', `\r\nX-Request-Id: ${id}\r\n`);
const connectRequest = head(['Host: a:1'], 'CONNECT a:1 HTTP/1.1');

describe('request id', () => {
  it.each([post(7), chunked('x'), head([...goodFields, 'Content-Length: 5000']), connectRequest])(
    'the request id of the client is in the response and in the log: %j',
    async (bytes) => {
      const { logged, logger } = recordLog();
      const { port } = await listen({ logger });
      for (const id of ['from-a.proxy:1/2~+=_', 'x'.repeat(128)]) {
        const { headers } = await sendRaw(port, withId(id, bytes));
        expect([headers['x-request-id'], logged.at(-1)?.['requestId']]).toEqual([id, id]);
      }
    },
  );

  it.each([
    post(7),
    connectRequest,
    '<hello>\r\n\r\n',
    ...['{"level":"error"}', '', 'x'.repeat(129), 'a b', 'é'].map((id) => withId(id, post(7))),
    withId('a', withId('a', post(7))),
  ])('the request id is generated for %j, and is in the response and in the log', async (bytes) => {
    const { logged, logger } = recordLog();
    const { port } = await listen({ logger });
    const { headers } = await sendRaw(port, bytes);
    expect(headers['x-request-id']).toMatch(/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/);
    expect(logged).toMatchObject([{ requestId: headers['x-request-id'] }]);
  });
});

describe('log line of a request', () => {
  it('the log line of a request has the method, path, status, error, size in bytes and duration', async () => {
    const { logged, logger } = recordLog();
    const { port } = await listen({ logger });
    const body = '{"id":7,"name":"Grünlilie"}';
    const fields = [...goodFields, `Content-Length: ${Buffer.byteLength(body)}`];
    const began = performance.now();
    await sendRaw(port, withId('a', head(fields) + body));
    const elapsedMs = performance.now() - began;
    await sendRaw(port, withId('b', post(7).replace('good', 'bad')));
    const written = {
      level: 'info',
      message: 'request',
      method: 'POST',
      path: '/plants',
      client: '127.0.0.1',
      durationMs: expect.any(Number) as unknown,
    };
    const rejected = JSON.stringify({ error: 2402, message: errorTable['token-rejected'].message });
    expect(logged).toEqual([
      { ...written, requestId: 'a', status: 200, bytes: Buffer.byteLength('{"name":"Grünlilie"}') },
      { ...written, requestId: 'b', status: 401, error: 2402, bytes: rejected.length },
    ]);
    const [{ durationMs } = {}] = logged;
    expect(durationMs).toBeGreaterThan(0);
    expect(durationMs).toBeLessThanOrEqual(elapsedMs);
    // Microseconds are the smallest unit.
    expect(String(durationMs)).toMatch(/^\d+(\.\d{1,3})?$/);
  });

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

  it.each([
    ['192.0.2.0/24', '127.0.0.1'],
    ['127.0.0.0/8', '203.0.113.2'],
  ])(
    'the log line of a request that trusts %s has the address of the client, %s',
    async (proxy, client) => {
      const { logged, logger } = recordLog();
      const { port } = await listen({ logger, trustedProxies: [proxy] });
      const forwarded = ['203.0.113.1', '203.0.113.2, 127.0.0.9'].map(
        (list) => `X-Forwarded-For: ${list}\r\n`,
      );
      for (const bytes of [post(7), connectRequest])
        await sendRaw(port, bytes.replace('\r\n', `\r\n${forwarded.join('')}`));
      await sendRaw(port, '<hello>\r\n\r\n');
      expect(logged).toMatchObject([{ client }, { client }, { client: '127.0.0.1' }]);
    },
  );

  it.each<[string, string | undefined]>([
    ['/plants?access_token=s3cr3t', '/plants'],
    ['/plants#s3cr3t', '/plants'],
    ['http://user:s3cr3t@plants.example/plants?x', '/plants'],
    ['ftp://user:s3cr3t@plants.example/plants', undefined],
    ['*', '*'],
    [`/${'x'.repeat(1_023)}`, `/${'x'.repeat(1_023)}`],
    [`/${'x'.repeat(1_024)}`, `/${'x'.repeat(1_023)}…`],
  ])('the log line of a request has only the path of the target: %#', async (target, path) => {
    const { logged, logger } = recordLog();
    const { port } = await listen({ logger });
    await sendRaw(port, head(['Host: a'], `OPTIONS ${target} HTTP/1.1`));
    expect(logged[0]?.['path']).toBe(path);
    expect(Object.hasOwn(logged[0] ?? {}, 'path')).toBe(path !== undefined);
    expect(JSON.stringify(logged)).not.toContain('s3cr3t');
  });

  it('the log line of a request is written once the response is, without waiting for an unwanted body', async () => {
    const { logged, logger } = recordLog();
    const { socket, until: untilReceived, peer } = await open({ logger });
    socket.write(head([...goodFields, 'Content-Length: 5000']));
    await untilReceived(responses(1));
    await until(() => logged.length > 0);
    expect(logged).toMatchObject([{ status: 413, message: 'request' }]);
    expect(peer.destroyed).toBe(false);
  });

  it('the log lines of pipelined requests are written before their responses arrive', async () => {
    const { logged, logger } = recordLog();
    const { socket, until: untilReceived } = await open({ logger });
    socket.write(post(1) + post(2));
    await untilReceived(responses(2));
    expect(logged.map(({ message }) => message)).toEqual(['request', 'request']);
  });

  it('the log line of a request is lost if the logger rejects, and no response', async () => {
    // An unhandled rejection fails the run.
    const fail = async () => Promise.reject(new Error('the collector is unavailable'));
    const { port } = await listen({ logger: { info: fail, warn: fail, error: fail } });
    expect((await sendRaw(port, post(7))).status).toBe(200);
    expect((await sendRaw(port, '<hello>\r\n\r\n')).status).toBe(400);
  });
});

describe('client that disconnects', () => {
  it('a client that disconnects is logged at info, with its address, if it had no response', async () => {
    const { logged, logger } = recordLog();
    const { socket, until: untilReceived } = await open({ logger });
    socket.write(post(7));
    await untilReceived(responses(1));
    socket.write(head([...goodFields, 'Content-Length: 900', 'Expect: 100-continue']));
    // A reset can overtake the head.
    await untilReceived((text) => text.endsWith('100 Continue\r\n\r\n'));
    socket.resetAndDestroy();
    await until(() => logged.length > 1);
    const aborted = { level: 'info', message: 'request aborted', bytes: 0, client: '127.0.0.1' };
    expect(logged[1]).toMatchObject(aborted);
    expect(logged[1]).not.toHaveProperty('status');
  });

  it('a client that disconnects does not suppress the log lines of an internal error and of its queued requests', async () => {
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const failing = async () => {
      reached.resolve();
      await gate.promise;
      throw new Error('a bug');
    };
    const repository: PlantRepository = { create: () => ResultAsync.fromSafePromise(failing()) };
    const { logged, logger } = recordLog();
    const { socket, port } = await open({ repository, logger });
    socket.write(withId('a', post(1)) + withId('b', post(2)) + withId('c', post(3)));
    await reached.promise;
    socket.resetAndDestroy();
    await sendRaw(port, head(['Host: a']));
    gate.resolve();
    await until(() => logged.length === 4);
    // A connection that is not read does not show that its client has disconnected.
    expect(logged.slice(1)).toMatchObject(
      ['a', 'b', 'c'].map((requestId) => ({ requestId, level: 'error', status: 500 })),
    );
    expect(logged[1]?.['cause']).toContain('a bug');
  });
});

it('the log through pino has the cause of a 500 with stacks, and no other property of the error', async () => {
  const secret = { input: 'postgres://plants:s3cr3t@db/plants' };
  const thrown = Object.assign(new Error('refused', { cause: new TypeError('deep down') }), secret);
  const create = () => {
    throw thrown;
  };
  const lines: string[] = [];
  const collect = new Writable({
    write(chunk: Buffer, _, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  const { port } = await listen({ repository: { create }, logger: pino(collect) });
  expect((await sendRaw(port, post(7))).status).toBe(500);
  const cause = expect.stringMatching(
    /^Error: refused\n {4}at [^]*\ncaused by: TypeError: deep down\n {4}at /,
  ) as unknown;
  const line = { level: 50, msg: 'request failed', status: 500, method: 'POST', cause };
  expect(JSON.parse(lines.join(''))).toMatchObject(line);
  for (const kept of ['s3cr3t', plant(7), 'good']) expect(lines.join('')).not.toContain(kept);
});
