import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ErrorName, errorTable } from '@plantstore/core/errors';
import { parseResponses, type RawResponse } from '@plantstore/test-support/raw-http';
import { expect, it } from 'vitest';
import { closing, kept, served } from '../../test/cases.ts';
import {
  connectTo,
  errorOf,
  head,
  listen,
  open,
  post,
  recordPlants,
  responses,
} from '../../test/listen.ts';

const expectRow = (name: ErrorName, response: RawResponse | undefined) => {
  const { status, error } = errorTable[name];
  expect(response?.status).toBe(status);
  expect(JSON.parse(response?.body ?? '')).toMatchObject({ error });
};

/** Sends bytes followed by a valid request for plant 99, and half-closes the connection. */
const exchange = async (bytes: string) => {
  const { repository, created } = recordPlants();
  const { socket, ended } = await open({ repository });
  socket.end(Buffer.from(bytes + post(99), 'latin1'));
  return { received: parseResponses(await ended), created };
};

it.each(closing)(
  'a refused request gets one response, %s, and its connection is closed: %s',
  async (name, _, bytes) => {
    const { received, created } = await exchange(bytes);
    expectRow(name, received[0]);
    expect(received).toMatchObject([{ headers: { connection: 'close' } }]);
    expect(created).toEqual([]);
  },
);

it.each(kept)(
  'a refused request gets one response, %s, and its connection is kept: %s',
  async (name, _, bytes) => {
    const { received, created } = await exchange(bytes);
    expectRow(name, received[0]);
    expect(received[1]?.status).toBe(200);
    expect(created).toEqual([99n]);
  },
);

it.each(served)('a valid but unusual request is served: %s', async (_, bytes) => {
  const { received, created } = await exchange(bytes);
  const first = received.find(({ status }) => status !== 100);
  expect(first).toMatchObject({ status: 200, body: '{"name":"Monstera"}' });
  // After a response with Connection: close, no further request is served.
  const more = first?.headers['connection'] === 'close' ? [] : [99n];
  expect(created).toEqual([7n, ...more]);
});

it.each([
  ['', head(['Host: a'], 'POSTS /plants HTTP/1.1'), 1000],
  [post(7), head(['Host: a'], 'PRI /plants HTTP/1.1'), 1000],
  [post(7), 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 1000],
  [post(7), head(['Host: a'], 'DESCRIBE /plants RTSP/1.0'), 2501],
])('a request in two packets, split at any byte, has one response: %j%j', async (...row) => {
  const [before, bytes, error] = row;
  const { server, port } = await listen();
  for (let split = Math.max(1, before.length - 2); split < before.length + bytes.length; split++) {
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const { socket, until, ended } = await connectTo(port);
    const [peer] = await accepted;
    socket.setNoDelay().write((before + bytes).slice(0, split));
    if (before !== '' && split >= before.length) await until(responses(1));
    while (peer.bytesRead < split && !peer.destroyed) await nextTurn();
    socket.end((before + bytes).slice(split));
    const errors = parseResponses(await ended).map(({ body }) => errorOf(body));
    expect([split, errors]).toEqual([split, before === '' ? [error] : [undefined, error]]);
  }
});
