import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer } from 'node:http';
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

type Kind = 'createHttpServer' | 'createRequestListener';
type Request = { readonly headers: Readonly<Record<string, string>> };

/** Serves each request and CONNECT in a context with its id. */
const listen = async (kind: Kind, isAsync: boolean, tls?: Certificate) => {
  const { context, calls, options } = recordCalls(isAsync);
  const server =
    kind === 'createHttpServer'
      ? createHttpServer({ ...options, ...(tls !== undefined && { tls }) })
      : createServer(createRequestListener(options));
  for (const event of ['request', 'connect']) {
    const [serve] = server.listeners(event) as ((...args: readonly unknown[]) => void)[];
    server.removeAllListeners(event);
    server.on(event, (request: Request, ...rest: unknown[]) => {
      context.run(String(request.headers['x-request-id']), () => serve?.(request, ...rest));
    });
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const connect = tls === undefined ? connectRaw : connectTls;
  const { socket, ended } = await connect((server.address() as AddressInfo).port);
  onTestFinished(() => void socket.destroy());
  return { server, calls, socket, ended };
};

const headOf = (id: number, line?: string, length = plant(id).length) =>
  head(
    [
      'Host: a',
      `X-Request-Id: ${id}`,
      `Authorization: Bearer ${id}`,
      'Content-Type: application/json',
      `Content-Length: ${length}`,
    ],
    line,
  );
const postOf = (id: number) => headOf(id) + plant(id);

/** Returns what is called of the app for a request, each in the context of the request. */
const callsOf = (id: number, without?: RegExp): Call[] => {
  const error = id === 2 ? ['error'] : [];
  return ['start', 'authenticate', 'repository', ...error, 'end', 'log line']
    .filter((what) => without?.test(what) !== true)
    .map((what) => [what, `${id}`, `${id}`]);
};

/** Keeps the order of the calls of a request, but not which request is first. */
const byId = ([, id]: Call, [, other]: Call) => Number(id) - Number(other);

describe.each<[Kind, 'sync' | 'async']>([
  ['createRequestListener', 'sync'],
  ['createRequestListener', 'async'],
  ['createHttpServer', 'sync'],
  ['createHttpServer', 'async'],
])('an app of %s with %s authenticate', (kind, authentication) => {
  const isAsync = authentication === 'async';

  it.each([
    ['in one packet', [1], postOf(1), ''],
    ['with a body that arrives later', [1], headOf(1), plant(1)],
    ['among pipelined requests', [1, 2, 3], postOf(1) + postOf(2) + postOf(3), ''],
  ])(
    `an app of ${kind} with ${authentication} authenticate runs in the context of each request that arrives %s`,
    async (_, ids, bytes, later) => {
      const { socket, calls } = await listen(kind, isAsync);
      const expected = ids.flatMap((id) => callsOf(id));
      socket.write(bytes);
      await until(() => calls.length > 1);
      socket.write(later);
      await until(() => calls.length >= expected.length);
      expect(calls.toSorted(byId)).toEqual(expected);
    },
  );

  it(`an app of ${kind} with ${authentication} authenticate runs in the context of a request whose client disconnects`, async () => {
    const { calls, socket } = await listen(kind, isAsync);
    socket.write(`${headOf(1)}{`);
    await until(() => calls.length === 2);
    socket.resetAndDestroy();
    await until(() => calls.length >= 4);
    expect(calls).toEqual(callsOf(1, /repository/));
  });
});

it('CONNECT is published and logged in its own context, after the response to another request', async () => {
  const { calls, socket } = await listen('createHttpServer', true);
  socket.write(`${postOf(1)}${headOf(3, 'CONNECT a:1 HTTP/1.1')}`);
  await until(() => calls.length === 8);
  expect(calls.filter(([, id]) => id === '3')).toEqual(callsOf(3, /authenticate|repository/));
});

it(
  'a request that cannot be parsed is logged in no context, also behind others over TLS',
  requiresOpenssl,
  async () => {
    const { calls, socket } = await listen('createHttpServer', true, await makeCertificate());
    // More than one record, so that Node reads the last one while the first request waits.
    const long = head(['Host: a', 'X-Request-Id: 3', `X: ${'x'.repeat(16_200)}`], 'GET / HTTP/1.1');
    socket.write(`${postOf(1)}${long}<hello>\r\n\r\n`);
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
  const { server, calls, socket, ended } = await listen('createHttpServer', false);
  server.prependOnceListener('request', (request) => void request.socket.destroy());
  const seen: unknown[] = [];
  server.on('request', ({ headers }) => void seen.push(headers['x-request-id']));
  socket.write([1, 2, 3, 4].map(postOf).join(''));
  await ended;
  const logged = calls.filter(([what]) => what === 'log line').map(([, id]) => id);
  expect(logged.toSorted()).toEqual(['1', '2', '3', '4']);
  expect(seen).toEqual(['1', '2', '3', '4']);
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
  expect(calls.toSorted(byId)).toEqual([1, 2, 3].flatMap((id) => callsOf(id)));
});

it('a response before the rest of its request ends in its own context, also behind another response', async () => {
  const { calls, socket } = await listen('createHttpServer', false);
  socket.write(`${postOf(1)}${headOf(3, undefined, 900_000_000)}{`);
  await until(() => calls.filter(([what]) => what === 'log line').length === 2);
  expect(calls.filter(([, id]) => id === '3')).toEqual(callsOf(3, /repository/));
});

it('a failed response to a body that cannot be parsed is published in the context of its request', async () => {
  const { server, calls, socket } = await listen('createHttpServer', false);
  // Conflicts with the length of the response, so that a 500 is published.
  server.prependListener('request', (_, response) => response.setHeader('Trailer', 'x'));
  socket.write(headOf(3).replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked'));
  await until(() => calls.some(([what]) => what === 'authenticate'));
  socket.write('zz\r\n');
  await until(() => calls.some(([what]) => what === 'log line'));
  const expected = ['start', 'authenticate', 'error', 'end', 'log line'];
  expect(calls).toEqual(expected.map((what) => [what, '3', '3']));
});
