import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough, pipeline } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { memoryInUse } from '@plantstore/test-support/memory';
import { connectRaw, parseResponses, sendRaw } from '@plantstore/test-support/raw-http';
import { ResultAsync } from 'neverthrow';
import { describe, expect, it, onTestFinished } from 'vitest';
import { goodFields, head, listen, plant, post, responses } from '../../test/listen.ts';
import { onDemand } from '../../test/on-demand.ts';
import { recordLog } from '@plantstore/test-support/record-log';

/** Starts a server with a second listener. */
const listenWith = async (
  second: (request: IncomingMessage) => void,
  place: 'on' | 'prependListener' = 'on',
) => {
  const { server, port } = await listen({ maxBodyBytes: 1_000_000 });
  server[place]('request', second);
  return port;
};

const readText = (request: IncomingMessage, onText: (body: string) => void) => {
  let body = '';
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString();
  });
  request.on('end', () => onText(body));
};

describe('another listener of a server of createHttpServer', () => {
  it.each([
    ['before', 'prependListener'],
    ['after', 'on'],
  ] as const)(
    'another listener receives the same body, called %s the listener of the server',
    async (_, place) => {
      const other = Promise.withResolvers<string>();
      const port = await listenWith((request) => readText(request, other.resolve), place);
      expect((await sendRaw(port, post(7))).status).toBe(200);
      expect(await other.promise).toBe(plant(7));
    },
  );

  it('another listener that iterates over the body has an end, and the body is stored', async () => {
    const other = Promise.withResolvers<string>();
    const port = await listenWith((request) => void text(request).then(other.resolve));
    expect((await sendRaw(port, post(7))).status).toBe(200);
    expect(plant(7)).toContain(await other.promise);
  });

  it('another listener receives the rest of a body that it begins to read later', async () => {
    const other = Promise.withResolvers<string>();
    const seen = Promise.withResolvers<IncomingMessage>();
    const port = await listenWith(seen.resolve);
    const { socket, until } = await connectRaw(port);
    const body = plant(7);
    socket.write(`${head([...goodFields, `Content-Length: ${body.length}`])}${body.slice(0, 5)}`);
    readText(await seen.promise, other.resolve);
    socket.write(body.slice(5));
    expect(parseResponses(await until(responses(1)))).toMatchObject([{ status: 200 }]);
    expect(body).toContain(await other.promise);
    socket.destroy();
  });

  it('another listener may wait for the end of the body without reading it', async () => {
    const ended = Promise.withResolvers<void>();
    const port = await listenWith((request) => void request.on('end', ended.resolve));
    expect((await sendRaw(port, post(7))).status).toBe(200);
    await ended.promise;
  });
});

it.each([
  ['of a stored plant', post(7)],
  ['of an error', head(['Host: a'])],
  ['of an unwanted body', head(['Host: a', 'Content-Length: 99999'])],
])(
  'a response %s that conflicts with a field of another listener ends the connection, and its cause is logged',
  async (_, request) => {
    const { logged, logger } = recordLog();
    const { server, port } = await listen({ logger });
    // Node writes it only with chunks, and throws because the response has a length.
    server.prependListener('request', (_request, response) => response.setHeader('Trailer', 'x'));
    const { socket, ended } = await connectRaw(port);
    socket.write(request);
    expect(await ended).toBe('');
    await expect
      .poll(() => logged)
      .toMatchObject([
        { level: 'error', status: 500, cause: expect.stringContaining('Trailer') as unknown },
      ]);
  },
);

it('another listener that writes to a response after its end causes no exception', async () => {
  const { server, port } = await listen();
  const written = Promise.withResolvers<Error | null | undefined>();
  server.once('request', (_request, response) => response.write('more', written.resolve));
  const { socket, until } = await connectRaw(port);
  onTestFinished(() => void socket.destroy());
  socket.write(head(['Host: a'], 'GET / HTTP/1.1'));
  expect(parseResponses(await until(responses(1)))).toMatchObject([{ status: 404 }]);
  expect(await written.promise).toMatchObject({ code: 'ERR_STREAM_WRITE_AFTER_END' });
  socket.write(post(7));
  expect(parseResponses(await until(responses(2)))).toMatchObject([
    { status: 404 },
    { status: 200 },
  ]);
});

it('another listener that is responding while a plant is stored can complete its response', async () => {
  const { repository, until: untilStoring, completeAll } = onDemand();
  const { server, port } = await listen({ repository });
  const theirs = Promise.withResolvers<ServerResponse>();
  server.on('request', (_request, response) => {
    response.writeHead(202, { 'Content-Length': 2 }).write('{');
    theirs.resolve(response);
  });
  const { socket, until } = await connectRaw(port);
  onTestFinished(() => void socket.destroy());
  socket.write(post(7));
  const response = await theirs.promise;
  await untilStoring(1);
  completeAll();
  await nextTurn();
  response.end('}');
  expect(await until((received) => received.endsWith('}'))).toMatch(
    /^HTTP\/1\.1 202 [^]*\r\n\r\n\{\}$/,
  );
});

/** A body that does not fit into the buffers of a request. */
const large = 'x'.repeat(200_000);
const refused = head(['Host: a', 'Authorization: Bearer bad', `Content-Length: ${large.length}`]);

/** What another listener does to a request, so that the rest of its body is not read. */
const leaving: Readonly<Record<string, (request: IncomingMessage) => unknown>> = {
  'pauses it': (request) => request.once('data', () => request.pause()),
  'waits until it is readable': (request) => request.on('readable', () => {}),
  'pipes it to a full stream': (request) => request.pipe(new PassThrough({ highWaterMark: 1 })),
};

it.each(Object.entries(leaving))(
  'the request after one that is refused at once has a response, although another listener %s',
  async (_, leave) => {
    const port = await listenWith((request) => {
      if (request.headers.authorization === 'Bearer bad') leave(request);
    });
    const { socket, until } = await connectRaw(port);
    onTestFinished(() => void socket.destroy());
    socket.write(refused + large + post(7));
    const statuses = parseResponses(await until(responses(2))).map(({ status }) => status);
    expect(statuses).toEqual([401, 200]);
  },
);

it('a connection ends if another listener destroys the stream of a request after its response', async () => {
  const seen = Promise.withResolvers<IncomingMessage>();
  const port = await listenWith(seen.resolve);
  const { socket, until } = await connectRaw(port);
  const ended = once(socket, 'end');
  socket.write(refused);
  expect(parseResponses(await until(responses(1)))).toMatchObject([{ status: 401 }]);
  const target = new PassThrough();
  pipeline(await seen.promise, target, () => {});
  target.destroy();
  await ended;
  socket.destroy();
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
  const port = await listenWith((request) => void requests.push(new WeakRef(request)));
  const { socket, until } = await connectRaw(port);
  socket.write(first);
  await until(responses(1));
  socket.write(rest);
  await expect
    .poll(() => {
      memoryInUse();
      return requests[0]?.deref() === undefined;
    })
    .toBe(true);
  socket.destroy();
});

it.each([
  ['before the service is asked', 'prependListener', {}],
  ['while its admission is decided', 'on', { authenticate: async () => nextTurn(true) }],
  ['while its body arrives', 'on', {}],
] as const)(
  'the status of another listener is logged that has responded to a request %s',
  async (when, place, options) => {
    const { logged, logger } = recordLog();
    const { server, port } = await listen({ ...options, logger });
    server[place]('request', (_request, response) => void response.writeHead(202).end());
    const bytes = when === 'while its body arrives' ? post(7).slice(0, -1) : post(7);
    const { socket, until } = await connectRaw(port);
    socket.write(bytes);
    await until((received) => received.includes(' 202 '));
    await expect.poll(() => logged).toMatchObject([{ message: 'request', status: 202 }]);
    socket.destroy();
  },
);

it('a failure is logged as one although another listener has responded meanwhile', async () => {
  const { logged, logger } = recordLog();
  const storing = Promise.withResolvers<void>();
  const failing = Promise.withResolvers<never>();
  const create = () => {
    storing.resolve();
    return ResultAsync.fromSafePromise<undefined>(failing.promise);
  };
  const { server, port } = await listen({ repository: { create }, logger });
  const theirs = Promise.withResolvers<ServerResponse>();
  server.on('request', (_request, response) => theirs.resolve(response));
  const sent = sendRaw(port, post(7));
  await storing.promise;
  (await theirs.promise).writeHead(202).end();
  await sent;
  failing.reject(new Error('the disk is gone'));
  await expect
    .poll(() => logged)
    .toMatchObject([{ level: 'error', message: 'request failed', status: 202, error: 3500 }]);
});

it('the status of another listener is logged that has responded while a plant is stored', async () => {
  const { logged, logger } = recordLog();
  const { repository, until: untilStoring, completeAll } = onDemand();
  const { server, port } = await listen({ repository, logger });
  const theirs = Promise.withResolvers<ServerResponse>();
  server.on('request', (_request, response) => theirs.resolve(response));
  const sent = sendRaw(port, post(7));
  await untilStoring(1);
  (await theirs.promise).writeHead(202).end();
  await sent;
  completeAll();
  await expect.poll(() => logged).toMatchObject([{ message: 'request', status: 202 }]);
});
