import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { createMemoryRepository } from '@plantstore/core';
import { memoryInUse } from '@plantstore/test-support/memory';
import { connectRaw, parseResponses } from '@plantstore/test-support/raw-http';
import { expect, it, onTestFinished } from 'vitest';
import { mounts, type Options } from './test/mounts.ts';
import { actions, type Case, idle, type Listener, other, places } from './test/other-listener.ts';

const json = '{"id":7,"name":"Monstera"}';
const half = json.length / 2;

/** Bodies, in the pieces in which they are sent. */
const bodies: Readonly<Record<string, readonly string[]>> = {
  'no body': [],
  'one chunk': [json],
  'many chunks': [json.slice(0, half), json.slice(half), ' ', ' '],
};

/** A request id has no spaces. */
const idOf = (name: string): string => name.replaceAll(/\W+/g, '-');

const headOf = (id: string, framing: string): string => {
  const fields = {
    Host: 'a',
    Authorization: 'Bearer good',
    'Content-Type': 'application/json',
    'X-Request-Id': idOf(id),
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return ['POST /plants HTTP/1.1', ...lines, framing, '', ''].join('\r\n');
};

/** Opens a connection. */
const connect = async (port: number) => {
  const { socket, received, until } = await connectRaw(port);
  socket.setNoDelay();
  const write = async (id: string, pieces: readonly string[]) => {
    const whole = pieces.join('');
    if (pieces.length < 2) {
      socket.write(headOf(id, `Content-Length: ${whole.length}`) + whole);
      return;
    }
    socket.write(headOf(id, 'Transfer-Encoding: chunked'));
    for (const piece of [...pieces, '']) {
      for (let turns = 0; turns < 3; turns += 1) await nextTurn();
      socket.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
    }
  };
  const send = async (id: string, pieces: readonly string[]) => {
    const earlier = received().length;
    const responses = () => parseResponses(received().slice(earlier));
    const isComplete = () => {
      const [first] = responses();
      return (
        first !== undefined && first.body.length >= Number(first.headers['content-length'] ?? 0)
      );
    };
    const isLost = until(isComplete).then(
      () => false,
      () => true,
    );
    await write(id, pieces);
    const hasEnded = (await isLost) || responses().at(-1)?.headers['connection'] === 'close';
    return { statuses: responses().map(({ status }) => status), hasEnded };
  };
  return { socket, send };
};

type Request = Case & { readonly pieces: readonly string[] };

/** Returns whether another listener can do that on a mount. */
const isPossible = (mount: string, { what, place }: Case): boolean => {
  // Nothing catches an exception of a listener, but in an application that waits for it.
  if (what === 'throws') return place.startsWith('before') && mount !== 'createHttpServer';
  // The adapter of Hono reads the request and responds.
  return mount !== 'Hono' || !/leaves|pipeline|encoding|responds/.test(what);
};

/** Returns the requests to a mount, by name: every action at every place of the listener, and a quarter of them elsewhere. */
const casesOf = (mount: string): readonly [name: string, Request][] =>
  Object.keys(actions)
    .flatMap((what) => places.map((place) => ({ what, place })))
    .filter((_, index) => mount === 'createRequestListener' || index % 4 === 0)
    .filter((one) => isPossible(mount, one))
    .map(({ what, place }, index) => {
      const [body, pieces] = Object.entries(bodies)[index % 3] ?? ['', []];
      return [`${what}, ${place}, ${body}`, { what, place, pieces }];
    });

const policies: Readonly<Record<string, Options['authenticate']>> = {
  'at once': () => true,
  later: async () => {
    await nextTurn();
    return true;
  },
};

const groups = Object.entries(mounts).flatMap(([mount, open]) =>
  Object.entries(policies).map(
    ([when, authenticate]) => [mount, when, open, authenticate] as const,
  ),
);

/** Time after which a test counts a request as hanging, in milliseconds. */
const hangMs = 120_000;

const orHang = async <T>(promise: Promise<T>): Promise<T | undefined> => {
  const timeout = new AbortController();
  const hang = wait(hangMs, undefined, { signal: timeout.signal }).catch(() => undefined);
  const result = await Promise.race([promise, hang]);
  timeout.abort();
  return result;
};

it.each(groups)(
  'a request that another listener uses has one response or a closed connection, one line in the log, and is not kept: %s, with a token that is checked %s',
  async (mount, _, open, authenticate) => {
    const lines: string[] = [];
    const log = (fields: { readonly requestId?: unknown }) =>
      void lines.push(String(fields.requestId));
    const requests: WeakRef<IncomingMessage>[] = [];
    const options: Options = {
      repository: createMemoryRepository(),
      authenticate,
      // A request that stayed in flight would be the last one that is served.
      maxInFlight: 1,
      logger: { info: log, warn: log, error: log },
    };
    const note: Listener = (request) => void requests.push(new WeakRef(request));
    const server = await open(options, note);
    onTestFinished(() => void server.close());
    if (!server.listening) await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const faults: string[] = [];
    const serve = async (name: string, { what, place, pieces }: Request) => {
      const connection = await connect(port);
      onTestFinished(() => void connection.socket.destroy());
      other.current = { what, place };
      const sent = await orHang(connection.send(name, pieces));
      other.current = idle;
      const { statuses, hasEnded } = sent ?? { statuses: ['a hang'], hasEnded: true };
      const isEnd = statuses.length === 1 || (statuses.length === 0 && hasEnded);
      if (sent === undefined || !isEnd) faults.push(`${name}: ${statuses.join()}`);
      const next = hasEnded ? await connect(port) : connection;
      const then = await orHang(next.send(`after ${name}`, bodies['one chunk'] ?? []));
      if (then?.statuses.join() !== '200') faults.push(`after ${name}: ${then?.statuses.join()}`);
      connection.socket.destroy();
      next.socket.destroy();
    };
    const cases = casesOf(mount);
    for (const [name, one] of cases) await serve(name, one);
    const expected = cases.flatMap(([name, { what }]) =>
      (what === 'throws' ? [`after ${name}`] : [name, `after ${name}`]).map(idOf),
    );
    await expect.poll(() => lines.length).toBeGreaterThanOrEqual(expected.length);
    expect({ faults, lines: lines.toSorted() }).toEqual({ faults: [], lines: expected.toSorted() });
    const kept = () => {
      memoryInUse();
      return requests.filter((one) => one.deref() !== undefined).length;
    };
    await expect.poll(kept).toBe(0);
  },
);
