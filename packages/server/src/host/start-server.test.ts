import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import { ResultAsync } from 'neverthrow';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectRaw, parseResponses } from '../../test/raw-http.ts';
import { startServer, type StartServerOptions } from './start-server.ts';

const start = async (options: Partial<StartServerOptions> = {}) =>
  startServer({
    repository: createMemoryRepository(),
    authenticate: (token) => token === 'good',
    port: 0,
    ...options,
  });

const running = async (options: Partial<StartServerOptions> = {}) => {
  const started = await start(options);
  if (started.kind !== 'running') throw new Error(started.message);
  onTestFinished(async () => started.server.close(0));
  return started.server;
};

/** A repository whose plants are kept when the test says so. */
const withGate = () => {
  const gate = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const inner = createMemoryRepository();
  const repository: PlantRepository = {
    create(plant) {
      arrived.resolve();
      return ResultAsync.fromSafePromise(gate.promise).andThen(() => inner.create(plant));
    },
  };
  return { repository, open: gate.resolve, arrived: arrived.promise };
};

const post = async (url: string) =>
  fetch(url, {
    method: 'POST',
    headers: { Authorization: 'Bearer good', 'Content-Type': 'application/json' },
    body: '{"id":7,"name":"x"}',
  });

const portOf = (url: string) => Number(new URL(url).port);

const get = 'GET /plants HTTP/1.1\r\nHost: a\r\n\r\n';

/** A connection that has had an answer, and is kept. */
const connectIdle = async (url: string) => {
  const connection = await connectRaw(portOf(url));
  connection.socket.write(get);
  await connection.until((text) => text.endsWith('}'));
  return connection;
};

describe('startServer', () => {
  it('says where to post plants', async () => {
    const { url } = await running({ basePath: '/garden/' });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/garden\/plants$/);
    expect((await post(url)).status).toBe(200);
  });

  it.each(['/100%25', '/a%3Fb', "/it's a garden", '/é'])(
    'serves the base path %s under the URL that it names',
    async (basePath) => {
      const { url } = await running({ basePath });
      expect(new URL(url).href).toBe(url);
      expect((await post(url)).status).toBe(200);
    },
  );

  it('names an address that can be reached when it listens on all', async () => {
    const { url } = await running({ host: '0.0.0.0' });
    expect((await post(url)).status).toBe(200);
  });

  it('says why it cannot listen', async () => {
    const port = portOf((await running()).url);
    expect(await start({ port })).toMatchObject({
      kind: 'cannot-listen',
      message: `127.0.0.1:${port} is taken by another process; choose another port`,
    });
    expect(await start({ host: '192.0.2.1' })).toMatchObject({
      kind: 'cannot-listen',
      message: expect.stringContaining('is no address of this machine') as unknown,
    });
  });
});

describe('the graceful shutdown', () => {
  it('answers what is in flight, and says that the connection ends', async () => {
    const { repository, open, arrived } = withGate();
    const { url, close } = await running({ repository });
    const answer = post(url);
    await arrived;
    const closed = close();
    await expect(post(url)).rejects.toThrow('fetch failed');
    open();
    const response = await answer;
    expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
    await closed;
  });

  it('answers every request that a client has pipelined by then', async () => {
    const { url, close } = await running();
    const { socket, ended } = await connectIdle(url);
    const closed = close();
    socket.write(get.repeat(10));
    const told = parseResponses(await ended).slice(1);
    expect(told.map(({ headers }) => headers['connection'])).toEqual([
      ...Array<string>(9).fill('keep-alive'),
      'close',
    ]);
    socket.destroy();
    await closed;
  });

  it('still answers a request that comes on a connection that was idle', async () => {
    const { url, close } = await running();
    const { socket, ended } = await connectIdle(url);
    const closed = close();
    socket.write(get);
    expect(parseResponses(await ended)).toMatchObject([
      { status: 405, headers: { connection: 'keep-alive' } },
      { status: 405, headers: { connection: 'close' } },
    ]);
    socket.destroy();
    await closed;
  });

  it('ends connections that stay idle', async () => {
    const { url, close } = await running();
    const { socket, ended } = await connectRaw(portOf(url));
    await close();
    expect(await ended).toBe('');
    socket.destroy();
  });

  it('cuts off what is not finished in time', async () => {
    const { repository, open, arrived } = withGate();
    const { url, close } = await running({ repository });
    const answer = post(url);
    const cutOff = arrived.then(async () => close(10));
    await expect(answer).rejects.toThrow('fetch failed');
    await cutOff;
    open();
  });
});
