import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { memoryInUse } from '@plantstore/test-support/memory';
import { sendRaw } from '@plantstore/test-support/raw-http';
import { recordLog } from '@plantstore/test-support/record-log';
import { ResultAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import {
  goodFields,
  head,
  listen,
  open,
  plant,
  post,
  responses,
  statusesOf,
} from '../../test/listen.ts';
import { onDemand } from '../../test/on-demand.ts';
import type { HttpServerOptions } from './create-http-server.ts';

/** Starts a server with a second listener. */
const listenWith = async (second: (request: IncomingMessage) => void, isFirst = false) => {
  const { server, port } = await listen();
  server[isFirst ? 'prependListener' : 'on']('request', second);
  return port;
};

const readText = (request: IncomingMessage, onText: (body: string) => void) => {
  let body = '';
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString();
  });
  request.on('end', () => onText(body));
};

describe('another listener that reads', () => {
  it.each([true, false])(
    'another listener receives the same body, called first: %s',
    async (isFirst) => {
      const other = Promise.withResolvers<string>();
      const port = await listenWith((request) => readText(request, other.resolve), isFirst);
      expect((await sendRaw(port, post(7))).status).toBe(200);
      expect(await other.promise).toBe(plant(7));
    },
  );

  it.each<[string, (request: IncomingMessage, onEnd: (body: string) => void) => unknown]>([
    ['iterates over the body', (request, onEnd) => text(request).then(onEnd)],
    [
      'waits for its end without reading it',
      (request, onEnd) => request.on('end', () => onEnd('')),
    ],
  ])('another listener that %s has an end, and the body is stored', async (_, read) => {
    const other = Promise.withResolvers<string>();
    const port = await listenWith((request) => void read(request, other.resolve));
    expect((await sendRaw(port, post(7))).status).toBe(200);
    expect(plant(7)).toContain(await other.promise);
  });

  it('another listener receives the rest of a body that it begins to read later', async () => {
    const other = Promise.withResolvers<string>();
    const seen = Promise.withResolvers<IncomingMessage>();
    const { server, socket, until } = await open();
    server.on('request', seen.resolve);
    socket.write(post(7).slice(0, -9));
    readText(await seen.promise, other.resolve);
    socket.write(post(7).slice(-9));
    expect(statusesOf(await until(responses(1)))).toEqual([200]);
    expect(plant(7)).toContain(await other.promise);
  });

  it.each<[string, (request: IncomingMessage) => unknown]>([
    ['pauses it', (request) => request.once('data', () => request.pause())],
    ['waits until it is readable', (request) => request.on('readable', () => {})],
    ['pipes it to a full stream', (request) => request.pipe(new PassThrough({ highWaterMark: 1 }))],
  ])(
    'another listener that %s does not hold up the request after a refused one',
    async (...row) => {
      const [, leave] = row;
      const { server, socket, until } = await open({ maxBodyBytes: 1_000_000 });
      server.once('request', leave);
      // Does not fit into the buffers of a request.
      const large = 'x'.repeat(200_000);
      socket.write(head(['Host: a', `Content-Length: ${large.length}`]) + large + post(7));
      expect(statusesOf(await until(responses(2)))).toEqual([401, 200]);
    },
  );
});

describe('another listener that responds', () => {
  it.each([
    ['of a stored plant', post(7)],
    ['of an error', head(['Host: a'])],
    ['of an unwanted body', head(['Host: a', 'Content-Length: 99999'])],
  ])(
    'a response %s that conflicts with a field of another listener is a 500 in the log',
    async (...row) => {
      const [, request] = row;
      const { logged, logger } = recordLog();
      const { server, socket, ended } = await open({ logger });
      // Node writes it only with chunks, and throws because the response has a length.
      server.prependListener('request', (_request, response) => response.setHeader('Trailer', 'x'));
      socket.write(request);
      expect(await ended).toBe('');
      const cause = expect.stringContaining('Trailer') as unknown;
      await expect.poll(() => logged).toMatchObject([{ level: 'error', status: 500, cause }]);
    },
  );

  it('another listener that writes to a response after its end causes no exception', async () => {
    const { server, socket, until } = await open();
    const written = Promise.withResolvers<Error | null | undefined>();
    server.once('request', (_request, response) => response.write('more', written.resolve));
    socket.write(head(['Host: a'], 'GET / HTTP/1.1'));
    expect(statusesOf(await until(responses(1)))).toEqual([404]);
    expect(await written.promise).toMatchObject({ code: 'ERR_STREAM_WRITE_AFTER_END' });
    socket.write(post(7));
    expect(statusesOf(await until(responses(2)))).toEqual([404, 200]);
  });

  it('another listener that is responding while a plant is stored can complete its response', async () => {
    const { repository, until: untilStoring, completeAll } = onDemand();
    const { server, socket, until } = await open({ repository });
    const theirs = Promise.withResolvers<ServerResponse>();
    server.on('request', (_request, response) => {
      response.writeHead(202, { 'Content-Length': 2 }).write('{');
      theirs.resolve(response);
    });
    socket.write(post(7));
    const response = await theirs.promise;
    await untilStoring(1);
    completeAll();
    await nextTurn();
    response.end('}');
    const received = await until((bytes) => bytes.endsWith('}'));
    expect(received).toMatch(/^HTTP\/1\.1 202 [^]*\r\n\r\n\{\}$/);
  });

  it.each<[string, string, Partial<HttpServerOptions>, boolean?]>([
    ['before the service is asked', post(7), {}, true],
    ['while its admission is decided', post(7), { authenticate: async () => nextTurn(true) }],
    ['while its body arrives', post(7).slice(0, -1), {}],
  ])(
    'the status of another listener is logged that has responded to a request %s',
    async (...row) => {
      const [, bytes, options, isFirst = false] = row;
      const { logged, logger } = recordLog();
      const { server, socket, until } = await open({ ...options, logger });
      const respond = (_: unknown, response: ServerResponse) => void response.writeHead(202).end();
      server[isFirst ? 'prependListener' : 'on']('request', respond);
      socket.write(bytes);
      await until((received) => received.includes(' 202 '));
      await expect.poll(() => logged).toMatchObject([{ message: 'request', status: 202 }]);
    },
  );

  it.each([
    [{ level: 'info', message: 'request', status: 202 }, undefined],
    [
      { level: 'error', message: 'request failed', status: 202, error: 3500 },
      new Error('the disk is gone'),
    ],
  ])(
    'the log line is %j of a request to which another listener has responded meanwhile',
    async (line, failure) => {
      const { logged, logger } = recordLog();
      const storing = Promise.withResolvers<void>();
      const stored = Promise.withResolvers<undefined>();
      const create = () => {
        storing.resolve();
        return ResultAsync.fromSafePromise(stored.promise);
      };
      const { server, port } = await listen({ repository: { create }, logger });
      const theirs = Promise.withResolvers<ServerResponse>();
      server.on('request', (_request, response) => theirs.resolve(response));
      const sent = sendRaw(port, post(7));
      await storing.promise;
      (await theirs.promise).writeHead(202).end();
      await sent;
      if (failure === undefined) stored.resolve(undefined);
      else stored.reject(failure);
      await expect.poll(() => logged).toMatchObject([line]);
    },
  );
});

it.each([
  ['', post(7), ''],
  [
    ' that is refused before its body',
    head([...goodFields, 'Content-Length: 2'], 'POST /x HTTP/1.1'),
    '{}',
  ],
])('a request%s is not kept in memory while its connection is idle', async (_, first, rest) => {
  const requests: WeakRef<IncomingMessage>[] = [];
  const { server, socket, until } = await open();
  server.on('request', (request) => void requests.push(new WeakRef(request)));
  socket.write(first);
  await until(responses(1));
  socket.write(rest);
  const isKept = () => {
    memoryInUse();
    return requests[0]?.deref() !== undefined;
  };
  await expect.poll(isKept).toBe(false);
});
