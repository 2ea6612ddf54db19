import { once } from 'node:events';
import { sendRaw } from '@plantstore/test-support/raw-http';
import { recordLog } from '@plantstore/test-support/record-log';
import { describe, expect, it } from 'vitest';
import {
  chunked,
  connectTo,
  goodFields,
  head,
  listen,
  open,
  post,
  recordPlants,
  responses,
  statusesOf,
} from '../../test/listen.ts';
import { maxWaiting } from './connection/connection.ts';

const connectRequest = head(['Host: a:1'], 'CONNECT a:1 HTTP/1.1');
const get = head(['Host: a'], 'GET / HTTP/1.1');

describe('client that half-closes the connection after its requests', () => {
  it.each([
    ['requests and bytes that are not HTTP', `${post(1)}${post(2)}<hi>\r\n\r\n`, [200, 200, 400]],
    [
      'requests and a malformed chunk',
      `${post(1)}${post(2)}${chunked().slice(0, -5)}zz`,
      [200, 200, 400],
    ],
    [
      'requests and a malformed chunk without a token',
      `${get}${head(['Host: a', 'Transfer-Encoding: chunked'])}zz\r\n`,
      [404, 401],
    ],
    ['requests and CONNECT', post(1) + post(2) + connectRequest, [200, 200, 404]],
    ['a request and an incomplete one', `${post(1)}POST /pl`, [200, 400]],
    [
      'a request and an incomplete one with the method of the HTTP/2 preface',
      `${post(1)}PRI /plants\r\nContent-Length: 9\r\n\r\n`,
      [200, 400],
    ],
    ['an incomplete request', post(1).slice(0, -1), [400]],
  ])(
    'a client that half-closes the connection after its requests gets all responses: %s',
    async (_, bytes, expected) => {
      const { socket, ended } = await open(recordPlants(10));
      socket.end(bytes);
      expect(statusesOf(await ended)).toEqual(expected);
    },
  );
});

describe('client that sends all its bytes before it reads', () => {
  const large = 'x'.repeat(900_000);
  const unauthenticated = ['Host: a', `Content-Length: ${large.length}`];
  const unending = 'x'.repeat(5_000_000);
  it.each([
    ['with an invalid Host', 400, head(['Host: /', ...unauthenticated.slice(1)]) + large],
    ['in malformed chunks', 400, `${chunked().slice(0, -5)}x${unending}`],
    [
      'in malformed chunks of an unwanted body',
      401,
      `${head(['Host: a', 'Transfer-Encoding: chunked'])}1\r\nxx${unending}`,
    ],
    ['that is not HTTP', 400, `\r\n\r\n?${unending}`],
    ['after CONNECT', 404, connectRequest + unending],
    ['after the last request', 400, head(['Host: /']) + chunked('x'.repeat(300_000)).repeat(9)],
    [
      'after a request with Connection: close, an incomplete request included',
      405,
      head(['Host: a', 'Connection: close'], 'GET /plants HTTP/1.1') +
        head([...goodFields, 'Content-Length: 900000']) +
        'x'.repeat(300_000),
    ],
  ])(
    'a client that sends all its bytes before it reads can read the last response: %s',
    async (_, status, bytes) => {
      const { socket, ended } = await open({ maxBodyBytes: 1_000_000 });
      const errors: Error[] = [];
      socket.on('error', (error) => errors.push(error));
      socket.pause();
      await new Promise<void>((resolve, reject) => {
        socket.write(bytes, (error) => (error ? reject(error) : resolve()));
      });
      socket.end();
      socket.resume();
      expect(statusesOf(await ended)).toEqual([status]);
      expect(errors).toEqual([]);
    },
  );
});

describe('client that pipelines requests', () => {
  it('a client that pipelines as many requests as may wait gets every response, in order', async () => {
    const { repository, created } = recordPlants(10);
    const { socket, until } = await open({ repository });
    const ids = Array.from({ length: maxWaiting }, (_, id) => id);
    socket.write(ids.map(post).join(''));
    const received = await until(responses(maxWaiting));
    expect(statusesOf(received)).toEqual(ids.map(() => 200));
    expect(created).toEqual(ids.map(BigInt));
  });

  it('a client that pipelines more requests than may wait is disconnected, and each one ends at once, also while a token is checked', async () => {
    const { repository, created } = recordPlants();
    let lines = 0;
    const info = () => void (lines += 1);
    const { socket, ended } = await open({
      repository,
      logger: { info, warn() {}, error() {} },
      authenticate: async () => new Promise(() => {}),
      handlerTimeoutMs: 86_400_000,
    });
    socket.write(post(1).repeat(maxWaiting + 1));
    expect(await ended).toBe('');
    await expect.poll(() => lines).toBe(maxWaiting);
    expect(created).toEqual([]);
  });

  it('a client that pipelines requests in many packets gets every response', async () => {
    const { socket, until } = await open(recordPlants(10));
    const long = head(['Host: a', `X: ${'x'.repeat(8_000)}`], 'GET / HTTP/1.1');
    socket.write(post(1) + long.repeat(200));
    const expected = [200, ...Array<number>(200).fill(404)];
    expect(statusesOf(await until(responses(201)))).toEqual(expected);
  });
});

it('a request that timed out is not served, although its client completes it after the response', async () => {
  const { repository, created } = recordPlants();
  const { socket, port, until, ended } = await open({ repository, headersTimeoutMs: 100 });
  socket.write(post(1).slice(0, 20));
  await until(responses(1));
  socket.write(post(1).slice(20) + post(2));
  expect(statusesOf(await ended)).toEqual([408]);
  await new Promise<void>((resolve) => socket.end(() => resolve()));
  expect((await sendRaw(port, post(3))).status).toBe(200);
  expect(created).toEqual([3n]);
});

it('a client that disconnects early causes no warning or error in the log, and not all of its requests are served', async () => {
  const lines: object[] = [];
  const note = (fields: object) => void lines.push(fields);
  const asked = Promise.withResolvers<void>();
  const decided = Promise.withResolvers<boolean>();
  const authenticate = async () => {
    asked.resolve();
    return decided.promise;
  };
  const { repository, created } = recordPlants(10);
  const logger = { info() {}, warn: note, error: note };
  const { socket, closed } = await open({ repository, logger, authenticate });
  socket.write(post(1) + chunked('{"id":2,"name":"x"}') + post(3));
  await asked.promise;
  socket.resetAndDestroy();
  await once(socket, 'close');
  // Only now, the server reads the connection.
  decided.resolve(true);
  await closed;
  await new Promise(setImmediate);
  expect(created).not.toContain(3n);
  expect(lines).toEqual([]);
});

it('a request whose connection is closed while its token is checked is not served, is logged once, and is no longer in flight', async () => {
  const asked = Promise.withResolvers<void>();
  const decided = Promise.withResolvers<boolean>();
  const authenticate = async () => {
    asked.resolve();
    return decided.promise;
  };
  const { repository, created } = recordPlants();
  const { logged, logger } = recordLog();
  const options = { repository, logger, authenticate, maxInFlight: 1 };
  const { socket, peer, port } = await open(options);
  socket.write(post(1));
  await asked.promise;
  peer.destroy();
  await expect.poll(() => logged).toMatchObject([{ message: 'request aborted' }]);
  decided.resolve(true);
  expect((await sendRaw(port, post(2))).status).toBe(200);
  expect(created).toEqual([2n]);
  await expect.poll(() => logged).toMatchObject([{ message: 'request aborted' }, { status: 200 }]);
});

it('clients that disconnect leave the server working: during a body, before a response, and after CONNECT', async () => {
  const { port } = await listen();
  const begun = [head([...goodFields, 'Content-Length: 900']), post(7), '<hello>\r\n\r\n'];
  for (const bytes of [...begun, ...Array<string>(50).fill(connectRequest)]) {
    const { socket } = await connectTo(port);
    socket.write(bytes, () => socket.resetAndDestroy());
    await once(socket, 'close');
  }
  expect((await sendRaw(port, post(8))).status).toBe(200);
});
