import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import { connectRaw, parseResponses, sendRaw } from '@plantstore/test-support/raw-http';
import { ResultAsync } from 'neverthrow';
import { describe, expect, it, vi } from 'vitest';
import { chunked, goodFields, head, listen, post, responses } from '../../test/listen.ts';

const statuses = (text: string) => parseResponses(text).map(({ status }) => status);

/** Returns a repository whose creates complete after 10 ms, when all bytes of a test have arrived. */
const slowRepository = (): { readonly repository: PlantRepository; readonly created: bigint[] } => {
  const inner = createMemoryRepository();
  const created: bigint[] = [];
  const repository: PlantRepository = {
    create: (newPlant) => {
      created.push(newPlant.id);
      return ResultAsync.fromSafePromise(
        new Promise((resolve) => {
          setTimeout(resolve, 10);
        }),
      ).andThen(() => inner.create(newPlant));
    },
  };
  return { repository, created };
};

const connectRequest = head(['Host: a:1'], 'CONNECT a:1 HTTP/1.1');

describe('client that half-closes the connection after its requests', () => {
  it.each([
    ['one request', post(1), [200]],
    ['pipelined requests', post(1) + post(2) + post(3), [200, 200, 200]],
    [
      'requests and bytes that are not HTTP',
      `${post(1)}${post(2)}<hello>\r\n\r\n`,
      [200, 200, 400],
    ],
    ['requests and CONNECT', post(1) + post(2) + connectRequest, [200, 200, 404]],
    [
      'bytes after a request with Connection: close',
      `${post(1).replace('Host', 'Connection: close\r\nHost')}<hello>\r\n\r\n`,
      [200],
    ],
    ['a request and an incomplete one', `${post(1)}POST /pl`, [200, 400]],
    [
      'requests and an incomplete one with the method of the HTTP/2 preface',
      `${post(1)}${post(2)}PRI /plants\r\nContent-Length: 9\r\n\r\n`,
      [200, 200, 400],
    ],
    ['an incomplete request', post(1).slice(0, -1), [400]],
  ])(
    'a client that half-closes the connection after its requests gets all responses: %s',
    async (_, bytes, expected) => {
      const { port } = await listen(slowRepository());
      const { socket, ended } = await connectRaw(port);
      socket.end(bytes);
      expect(statuses(await ended)).toEqual(expected);
      socket.destroy();
    },
  );
});

describe('client that sends all its bytes before it reads', () => {
  const large = 'x'.repeat(900_000);
  const unauthenticated = ['Host: a', `Content-Length: ${large.length}`];
  const unending = 'x'.repeat(5_000_000);
  it.each([
    ['with Connection: close', 401, head([...unauthenticated, 'Connection: close']) + large],
    ['with HTTP/1.0', 401, head(unauthenticated, 'POST /plants HTTP/1.0') + large],
    [
      'with an upgrade',
      401,
      head([...unauthenticated, 'Connection: Upgrade', 'Upgrade: h2c']) + large,
    ],
    ['with an invalid Host', 400, head(['Host: /', ...unauthenticated.slice(1)]) + large],
    [
      'in malformed chunks',
      400,
      `${head([...goodFields, 'Transfer-Encoding: chunked'])}x${unending}`,
    ],
    [
      'in malformed chunks of an unwanted body',
      401,
      `${head(['Host: a', 'Transfer-Encoding: chunked'])}1\r\nxx${unending}`,
    ],
    ['that is not HTTP', 400, `\r\n\r\n?${unending}`],
    ['after CONNECT', 404, connectRequest + unending],
    ['after the last request', 400, head(['Host: /']) + chunked('x'.repeat(300_000)).repeat(9)],
    [
      'after the last request, an incomplete request included',
      405,
      head(['Host: a', 'Connection: close'], 'GET /plants HTTP/1.1') +
        post(1) +
        head([...goodFields, 'Content-Length: 900000']) +
        'x'.repeat(300_000),
    ],
    [
      'after a request with Connection: close',
      405,
      head(['Host: a', 'Connection: close'], 'GET /plants HTTP/1.1') + unending,
    ],
  ])(
    'a client that sends all its bytes before it reads can read the last response: %s',
    async (_, status, bytes) => {
      const { port } = await listen({ maxBodyBytes: 1_000_000 });
      const { socket, ended } = await connectRaw(port);
      const errors: Error[] = [];
      socket.on('error', (error) => errors.push(error));
      socket.pause();
      await new Promise<void>((resolve, reject) => {
        socket.write(bytes, (error) => (error ? reject(error) : resolve()));
      });
      socket.end();
      socket.resume();
      expect(statuses(await ended)).toEqual([status]);
      expect(errors).toEqual([]);
      socket.destroy();
    },
  );
});

describe('client that pipelines requests', () => {
  it('a client that pipelines requests gets the response to CONNECT after the responses to earlier requests', async () => {
    const { port } = await listen(slowRepository());
    const { socket, ended } = await connectRaw(port);
    socket.write(post(1) + post(2) + connectRequest);
    expect(statuses(await ended)).toEqual([200, 200, 404]);
    socket.destroy();
  });

  it('a client that pipelines requests gets the responses to the complete requests before a malformed one', async () => {
    const { port } = await listen(slowRepository());
    const { socket, ended } = await connectRaw(port);
    socket.write(
      post(1) + post(2) + post(3) + head([...goodFields, 'Transfer-Encoding: chunked']) + 'x',
    );
    expect(statuses(await ended)).toEqual([200, 200, 200, 400]);
    socket.destroy();
  });

  it.each([
    ['an unknown transfer coding', head([...goodFields, 'Transfer-Encoding: gzip']), 501],
    ['a malformed chunk', `${head(['Host: a', 'Transfer-Encoding: chunked'])}zz\r\n`, 401],
  ])(
    'a client that pipelines requests gets the responses to the requests before %s',
    async (_, broken, status) => {
      const { port } = await listen();
      const { socket, ended } = await connectRaw(port);
      socket.write(head(['Host: a'], 'GET / HTTP/1.1').repeat(3) + broken);
      expect(statuses(await ended)).toEqual([404, 404, 404, status]);
      socket.destroy();
    },
  );

  it('a client that pipelines requests gets 100 responses and then a 503 that closes the connection', async () => {
    const { repository, created } = slowRepository();
    const { port } = await listen({ repository });
    const { socket, ended } = await connectRaw(port);
    socket.write(Array.from({ length: 300 }, (_, id) => post(id)).join(''));
    const received = parseResponses(await ended);
    expect(received.map(({ status }) => status)).toEqual([...Array<number>(100).fill(200), 503]);
    expect(received.at(-1)?.headers).toMatchObject({ connection: 'close', 'retry-after': '1' });
    expect(created).toHaveLength(100);
    socket.destroy();
  });
});

describe('a client that sends more requests than may wait', () => {
  it('a client that sends more requests than may wait has those of further packets not parsed, and gets every response', async () => {
    const gate = Promise.withResolvers<void>();
    const create = () => ResultAsync.fromSafePromise<void>(gate.promise);
    const { server, port } = await listen({ repository: { create } });
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    let parsed = 0;
    server.on('request', () => (parsed += 1));
    const { socket, ended } = await connectRaw(port);
    const [peer] = await accepted;
    const get = head(['Host: a'], 'GET / HTTP/1.1');
    const bytes = post(1) + get.repeat(50_000);
    socket.write(bytes);
    while (peer.bytesRead < bytes.length) await new Promise(setImmediate);
    // A read has at most 64 KiB.
    expect(parsed).toBeLessThan(200 + (2 * 65_536) / get.length);
    gate.resolve();
    expect(statuses(await ended)).toEqual([200, ...Array<number>(99).fill(404), 503]);
    socket.destroy();
  });
});

describe('a request that timed out', () => {
  it('a request that timed out is not served, although its client completes it after the response', async () => {
    const { repository, created } = slowRepository();
    const { port } = await listen({ repository, headersTimeoutMs: 100 });
    const { socket, until, ended } = await connectRaw(port);
    socket.write(post(1).slice(0, 20));
    await until(responses(1));
    socket.write(post(1).slice(20) + post(2));
    expect(statuses(await ended)).toEqual([408]);
    await new Promise<void>((resolve) => socket.end(() => resolve()));
    expect((await sendRaw(port, post(3))).status).toBe(200);
    expect(created).toEqual([3n]);
    socket.destroy();
  });
});

describe('a client that disconnects early', () => {
  it('a client that disconnects early causes no further request, and no warning or error in the log', async () => {
    const lines: object[] = [];
    const note = (fields: object) => void lines.push(fields);
    const asked = Promise.withResolvers<void>();
    const decided = Promise.withResolvers<boolean>();
    const authenticate = vi.fn(async () => {
      asked.resolve();
      return decided.promise;
    });
    const { repository, created } = slowRepository();
    const logger = { info() {}, warn: note, error: note };
    const { server, port } = await listen({ repository, logger, authenticate });
    const left = Promise.withResolvers<void>();
    server.on('connection', (connection) => connection.on('close', () => left.resolve()));

    const { socket } = await connectRaw(port);
    socket.write(post(1) + chunked('{"id":2,"name":"x"}') + post(3));
    await asked.promise;
    socket.resetAndDestroy();
    await left.promise;
    decided.resolve(true);
    await new Promise(setImmediate);
    expect(authenticate).toHaveBeenCalledTimes(1);
    expect({ created, lines }).toEqual({ created: [], lines: [] });
  });
});

describe('refused expectation', () => {
  it('a refused expectation closes the connection, because its body may or may not follow', async () => {
    const { port } = await listen();
    const { socket, ended } = await connectRaw(port);
    const expecting = head(['Host: a', 'Expect: 100-continue'], 'GET /plants HTTP/1.1');
    socket.write(`${expecting}<hello>\r\n\r\n`);
    expect(statuses(await ended)).toEqual([405]);
    socket.destroy();
  });

  it.each<[number, string[], string?]>([
    [404, ['Host: a'], 'POST /elsewhere HTTP/1.1'],
    [405, ['Host: a'], 'PUT /plants HTTP/1.1'],
    [401, ['Host: a']],
    [413, [...goodFields, 'Content-Length: 1001']],
    [415, ['Host: a', 'Authorization: Bearer good']],
  ])(
    'a refused expectation gets %i from the head alone, without 100 Continue',
    async (status, fields, line) => {
      const { port } = await listen();
      const { socket, until } = await connectRaw(port);
      socket.write(head([...fields, 'Expect: 100-continue'], line));
      const received = parseResponses(await until(responses(1)));
      expect(received).toMatchObject([{ status, headers: { connection: 'close' } }]);
      socket.destroy();
    },
  );
});
