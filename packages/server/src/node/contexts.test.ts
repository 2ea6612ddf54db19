import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Certificate,
  makeCertificate,
  requiresOpenssl,
} from '@plantstore/test-support/certificate';
import { connectRaw, connectTls } from '@plantstore/test-support/raw-http';
import { until } from '@plantstore/test-support/record-log';
import { errAsync, okAsync } from 'neverthrow';
import { describe, expect, it, onTestFinished } from 'vitest';
import { head, plant } from '../../test/listen.ts';
import { createFetchHandler } from '../fetch/create-fetch-handler.ts';
import { createHttpServer } from './create-http-server.ts';
import { createRequestListener } from './create-request-listener.ts';

type Call = readonly [what: string, id: string, context: string | undefined];

/** Returns options of an app that records for which request, and in which context, each part of it is called. */
const recordCalls = (isAsync: boolean) => {
  const context = new AsyncLocalStorage<string>();
  const calls: Call[] = [];
  const note = (what: string, id: string) => void calls.push([what, id, context.getStore()]);
  const log = ({ requestId }: Readonly<Record<string, unknown>>) =>
    note('log line', String(requestId));
  for (const step of ['start', 'error', 'end']) {
    const channel = `plantstore:request:${step}`;
    const publish = (event: unknown) =>
      note(step, (event as { request: { requestId: string } }).request.requestId);
    subscribe(channel, publish);
    onTestFinished(() => void unsubscribe(channel, publish));
  }
  const options: Parameters<typeof createHttpServer>[0] = {
    authenticate(token) {
      note('authenticate', token);
      return isAsync ? new Promise((resolve) => setImmediate(() => resolve(true))) : true;
    },
    repository: {
      create({ id }) {
        note('repository', `${id}`);
        // The store is unavailable for the second request.
        return id === 2n ? errAsync({ kind: 'store-unavailable', reason: 'full' }) : okAsync();
      },
    },
    logger: { info: log, warn: log, error: log },
  };
  return { context, calls, options };
};

/** Serves each request and CONNECT in a context with its id. */
const listen = async (
  kind: 'createHttpServer' | 'createRequestListener',
  isAsync: boolean,
  tls?: Certificate,
) => {
  const { context, calls, options } = recordCalls(isAsync);
  const isServer = kind === 'createHttpServer';
  const server: Server = isServer
    ? createHttpServer({ ...options, ...(tls !== undefined && { tls }) })
    : createServer(createRequestListener(options));
  for (const event of ['request', 'connect']) {
    const [serve] = server.listeners(event) as ((...args: readonly unknown[]) => void)[];
    server.removeAllListeners(event);
    server.on(event, (request: { headers: Record<string, string> }, ...rest: unknown[]) => {
      context.run(String(request.headers['x-request-id']), () => serve?.(request, ...rest));
    });
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const connect = tls === undefined ? connectRaw : connectTls;
  const { socket } = await connect((server.address() as AddressInfo).port);
  onTestFinished(() => void socket.destroy());
  return { calls, socket };
};

type Connection = Awaited<ReturnType<typeof listen>>;

const headOf = (id: number, line?: string) =>
  head(
    [
      'Host: a',
      `X-Request-Id: ${id}`,
      `Authorization: Bearer ${id}`,
      'Content-Type: application/json',
      `Content-Length: ${plant(id).length}`,
    ],
    line,
  );

/** Returns what is called of the app for a request, each in the context of the request. */
const callsOf = (id: number): Call[] => {
  const error = id === 2 ? ['error'] : [];
  return ['start', 'authenticate', 'repository', ...error, 'end', 'log line'].map((what) => [
    what,
    `${id}`,
    `${id}`,
  ]);
};

const deliveries: [string, number[], (connection: Connection) => Promise<void>][] = [
  ['in one packet', [1], async ({ socket }) => void socket.write(headOf(1) + plant(1))],
  [
    'with a body that arrives later',
    [1],
    async ({ socket, calls }) => {
      socket.write(headOf(1));
      await until(() => calls.length > 1);
      socket.write(plant(1));
    },
  ],
  [
    'among pipelined requests',
    [1, 2, 3],
    async ({ socket }) => void socket.write([1, 2, 3].map((id) => headOf(id) + plant(id)).join('')),
  ],
];

describe.each([
  ['createRequestListener', 'sync'],
  ['createRequestListener', 'async'],
  ['createHttpServer', 'sync'],
  ['createHttpServer', 'async'],
] as const)('an app of %s with %s authenticate', (kind, authentication) => {
  it.each(deliveries)(
    `an app of ${kind} with ${authentication} authenticate runs in the context of each request that arrives %s`,
    async (_, ids, deliver) => {
      const connection = await listen(kind, authentication === 'async');
      const expected = ids.flatMap(callsOf);
      await deliver(connection);
      await until(() => connection.calls.length >= expected.length);
      expect(connection.calls.toSorted(byId)).toEqual(expected.toSorted(byId));
    },
  );

  it(`an app of ${kind} with ${authentication} authenticate runs in the context of a request whose client disconnects`, async () => {
    const { calls, socket } = await listen(kind, authentication === 'async');
    socket.write(`${headOf(1)}{`);
    await until(() => calls.length === 2);
    socket.resetAndDestroy();
    const expected = callsOf(1).filter(([what]) => what !== 'repository');
    await until(() => calls.length >= expected.length);
    expect(calls).toEqual(expected);
  });
});

/** Keeps the order of the calls of a request, but not which request is first. */
const byId = ([, id]: Call, [, other]: Call) => Number(id) - Number(other);

it('CONNECT is published and logged in its own context, after the response to another request', async () => {
  const { calls, socket } = await listen('createHttpServer', true);
  socket.write(`${headOf(1)}${plant(1)}${headOf(3, 'CONNECT a:1 HTTP/1.1')}`);
  await until(() => calls.length === 8);
  const ofConnect = calls.filter(([, id]) => id === '3');
  expect(ofConnect).toEqual(callsOf(3).filter(([what]) => /start|end|log/.test(what)));
});

it(
  'a request that cannot be parsed is logged in no context, also behind others over TLS',
  requiresOpenssl,
  async () => {
    const { calls, socket } = await listen('createHttpServer', true, await makeCertificate());
    // More than one record, so that Node reads the last one while the first request waits.
    const long = head(['Host: a', 'X-Request-Id: 3', `X: ${'x'.repeat(16_200)}`], 'GET / HTTP/1.1');
    socket.write(`${headOf(1)}${plant(1)}${long}<hello>\r\n\r\n`);
    await until(() => calls.length === 11);
    const ofOthers = calls.filter(([, id]) => id !== '1' && id !== '3');
    expect(ofOthers.map(([what, , context]) => [what, context])).toEqual([
      ['start', undefined],
      ['end', undefined],
      ['log line', undefined],
    ]);
  },
);

it('each request of a destroyed connection is published and logged under its own id', async () => {
  const { calls, options } = recordCalls(false);
  const server = createHttpServer(options);
  server.once('request', ({ socket }) => void socket.destroy());
  const seen: unknown[] = [];
  server.on('request', ({ headers }) => void seen.push(headers['x-request-id']));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { socket, ended } = await connectRaw((server.address() as AddressInfo).port);
  socket.write([1, 2, 3, 4].map((id) => headOf(id) + plant(id)).join(''));
  await ended;
  const logged = calls.filter(([what]) => what === 'log line').map(([, id]) => id);
  expect(logged.toSorted()).toEqual(['1', '2', '3', '4']);
  expect(seen).toEqual(['1', '2', '3', '4']);
});

it('the context of each request is destroyed once, for those that keep what belongs to it', async () => {
  const contexts = new Map<number, number>();
  const hook = createHook({
    init: (id, type) => void (type === 'PlantstoreRequest' && contexts.set(id, 0)),
    destroy: (id) => void (contexts.has(id) && contexts.set(id, (contexts.get(id) ?? 0) + 1)),
  }).enable();
  onTestFinished(() => void hook.disable());
  const { calls, socket } = await listen('createHttpServer', false);
  // The client disconnects during the last request.
  socket.write([1, 2, 3].map((id) => headOf(id) + plant(id)).join('') + headOf(4));
  await until(() => calls.length > callsOf(1).length * 3);
  socket.resetAndDestroy();
  await until(() => calls.filter(([what]) => what === 'log line').length === 4);
  await until(() => [...contexts.values()].every((count) => count > 0));
  expect([...contexts.values()]).toEqual([1, 1, 1, 1]);
});

it('an app of a fetch handler runs in the context of each request', async () => {
  const { context, calls, options } = recordCalls(true);
  const handle = createFetchHandler(options);
  const send = async (id: number) => {
    const headers = {
      'X-Request-Id': `${id}`,
      Authorization: `Bearer ${id}`,
      'Content-Type': 'application/json',
    };
    const init = { method: 'POST', headers, body: plant(id) };
    await context.run(`${id}`, async () => handle('http://a/plants', init));
  };
  await Promise.all([1, 2, 3].map(send));
  expect(calls.toSorted(byId)).toEqual([1, 2, 3].flatMap(callsOf));
});

/** A request whose body is too large. */
const large = head([
  'Host: a',
  'X-Request-Id: 3',
  'Authorization: Bearer 3',
  'Content-Type: application/json',
  'Content-Length: 900000000',
]);

it('a response before the rest of its request ends in its own context, also behind another response', async () => {
  const { calls, socket } = await listen('createHttpServer', false);
  socket.write(`${headOf(1)}${plant(1)}${large}{`);
  await until(() => calls.filter(([what]) => what === 'log line').length === 2);
  const expected = ['start', 'authenticate', 'end', 'log line'].map((what) => [what, '3', '3']);
  expect(calls.filter(([, id]) => id === '3')).toEqual(expected);
});

it('a failed response to a body that cannot be parsed is published in the context of its request', async () => {
  const { context, calls, options } = recordCalls(false);
  const server = createHttpServer(options);
  const [serve] = server.listeners('request') as ((...args: readonly unknown[]) => void)[];
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    // Conflicts with the length of the response, so that a 500 is published.
    response.setHeader('Trailer', 'x');
    context.run('3', () => serve?.(request, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { socket } = await connectRaw((server.address() as AddressInfo).port);
  onTestFinished(() => void socket.destroy());
  socket.write(large.replace('Content-Length: 900000000', 'Transfer-Encoding: chunked'));
  await until(() => calls.some(([what]) => what === 'authenticate'));
  socket.write('zz\r\n');
  await until(() => calls.some(([what]) => what === 'log line'));
  const expected = ['start', 'authenticate', 'error', 'end', 'log line'];
  expect(calls).toEqual(expected.map((what) => [what, '3', '3']));
});
