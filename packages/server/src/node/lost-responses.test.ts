import { once } from 'node:events';
import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import { connectRaw, parseResponses, sendRaw } from '@plantstore/test-support/raw-http';
import { ResultAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { chunked, goodFields, head, listen, post, responses } from '../../test/listen.ts';
import { maxWaiting } from './connection/connection.ts';

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

  it.each([
    [maxWaiting, Array<number>(maxWaiting).fill(200)],
    [maxWaiting + 1, []],
  ])(
    'a client that pipelines requests in one packet is served up to a maximum, and disconnected above: %i',
    async (count, expected) => {
      const { repository, created } = slowRepository();
      const { port } = await listen({ repository });
      const { socket, ended, received, until } = await connectRaw(port);
      socket.write(Array.from({ length: count }, (_, id) => post(id)).join(''));
      await (expected.length > 0 ? until(responses(count)) : ended);
      expect(statuses(received())).toEqual(expected);
      expect(created.length).toBeLessThanOrEqual(Math.max(1, expected.length));
      socket.destroy();
    },
  );

  it('a client that pipelines requests in many packets gets every response', async () => {
    const { port } = await listen(slowRepository());
    const { socket, until } = await connectRaw(port);
    const get = head(['Host: a', `X: ${'x'.repeat(8_000)}`], 'GET / HTTP/1.1');
    socket.write(post(1) + get.repeat(200));
    expect(statuses(await until(responses(201)))).toEqual([200, ...Array<number>(200).fill(404)]);
    socket.destroy();
  });

  it('a client that pipelines requests after one that ends the connection is disconnected above the maximum', async () => {
    const { port } = await listen();
    const { socket, ended } = await connectRaw(port);
    const get = head(['Host: a'], 'GET / HTTP/1.1');
    socket.write(head(['Host: /']) + get.repeat(maxWaiting));
    expect(statuses(await ended)).toEqual([]);
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

describe('requests above the maximum', () => {
  it('requests above the maximum end each request of their connection at once, also while a token is checked', async () => {
    const { promise: logged, resolve } = Promise.withResolvers<void>();
    let lines = 0;
    const info = () => {
      if ((lines += 1) === maxWaiting) resolve();
    };
    const { port } = await listen({
      logger: { info, warn() {}, error() {} },
      authenticate: async () => new Promise(() => {}),
      handlerTimeoutMs: 86_400_000,
    });
    const { socket, ended } = await connectRaw(port);
    socket.write(post(1).repeat(maxWaiting + 1));
    expect(statuses(await ended)).toEqual([]);
    await logged;
    socket.destroy();
  });
});

describe('a client that disconnects early', () => {
  it('a client that disconnects early causes no warning or error in the log, and not all of its requests are served', async () => {
    const lines: object[] = [];
    const note = (fields: object) => void lines.push(fields);
    const asked = Promise.withResolvers<void>();
    const decided = Promise.withResolvers<boolean>();
    const authenticate = async () => {
      asked.resolve();
      return decided.promise;
    };
    const { repository, created } = slowRepository();
    const logger = { info() {}, warn: note, error: note };
    const { server, port } = await listen({ repository, logger, authenticate });
    const left = Promise.withResolvers<void>();
    server.on('connection', (connection) => connection.on('close', () => left.resolve()));

    const { socket } = await connectRaw(port);
    socket.write(post(1) + chunked('{"id":2,"name":"x"}') + post(3));
    await asked.promise;
    socket.resetAndDestroy();
    await once(socket, 'close');
    // Only now, the server reads the connection.
    decided.resolve(true);
    await left.promise;
    await new Promise(setImmediate);
    expect(created).not.toContain(3n);
    expect(lines).toEqual([]);
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
