import { AsyncLocalStorage } from 'node:async_hooks';
import { execFile } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import { sendRaw } from '@plantstore/test-support/raw-http';
import { errAsync, ResultAsync } from 'neverthrow';
import { describe, expect, it, onTestFinished } from 'vitest';
import { head, listen, post } from '../../test/listen.ts';
import { recordEvents, steps } from '../../test/record-events.ts';
import { recordLog } from '@plantstore/test-support/record-log';
import { createRequestListener } from '../node/create-request-listener.ts';

const aNumber = expect.any(Number) as unknown;

describe('events of a request', () => {
  it('the events of a request are one start and one end', async () => {
    const events = recordEvents();
    const { port } = await listen();
    const { headers } = await sendRaw(port, post(7));
    const request = {
      requestId: headers['x-request-id'],
      method: 'POST',
      path: '/plants',
      client: '127.0.0.1',
    };
    expect(events).toEqual([
      ['start', { request }],
      ['end', { request, status: 200, bytes: 19, durationMs: aNumber, isWritten: true }],
    ]);
  });

  it('the events of a request have the same request object, also for requests with the same id', async () => {
    const events = recordEvents();
    const { port } = await listen();
    const get = head(['Host: a', 'X-Request-Id: x'], 'GET /plants HTTP/1.1');
    await Promise.all([sendRaw(port, get), sendRaw(port, get)]);
    const [one, other] = new Set(events.map(([, { request }]) => request));
    expect([one, other]).toEqual([one, one]);
    for (const request of [one, other]) {
      expect(steps(events.filter(([, event]) => event.request === request))).toEqual([
        'start',
        'end',
      ]);
    }
  });

  it.each<[number, number, string, PlantRepository['create']]>([
    [500, 3500, 'Error: a bug', () => new ResultAsync(Promise.reject(new Error('a bug')))],
    [503, 3503, 'full', () => errAsync({ kind: 'store-unavailable', reason: 'full' })],
  ])(
    'the events of a request include an error with its cause for a %i',
    async (status, error, cause, create) => {
      const events = recordEvents();
      const { port } = await listen({ repository: { create } });
      await sendRaw(port, post(7));
      expect(steps(events)).toEqual(['start', 'error', 'end']);
      expect(events[1]?.[1]).toMatchObject({
        status,
        error,
        cause: expect.stringMatching(cause) as unknown,
      });
      expect(events[2]?.[1]).toMatchObject({ status, error, isWritten: true });
    },
  );

  it('the events of a request include no error for a client error', async () => {
    const events = recordEvents();
    const { port } = await listen();
    await sendRaw(port, 'BREW /plants HTTP/1.1\r\nHost: a\r\n\r\n');
    await sendRaw(port, head(['Host: a'], 'CONNECT a:1 HTTP/1.1'));
    await sendRaw(port, head(['Host: a']));
    expect(steps(events)).toEqual(['start', 'end', 'start', 'end', 'start', 'end']);
    expect(events.filter(([step]) => step === 'end').map(([, event]) => event)).toMatchObject([
      { request: { requestId: expect.any(String) as unknown }, status: 400, error: 1000 },
      { request: { method: 'CONNECT' }, status: 404, error: 2404 },
      { request: { method: 'POST' }, status: 401, error: 2401 },
    ]);
  });

  it('the events of a request are published in the asynchronous context of the listener', async () => {
    const context = new AsyncLocalStorage<string>();
    const listener = createRequestListener({
      repository: createMemoryRepository(),
      authenticate: () => true,
    });
    const server = createServer((request, response) => {
      context.run('span', () => listener(request, response));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const contexts: unknown[] = [];
    const note = () => void contexts.push(context.getStore());
    subscribe('plantstore:request:start', note);
    onTestFinished(() => void unsubscribe('plantstore:request:start', note));
    await sendRaw((server.address() as AddressInfo).port, post(7));
    expect(contexts).toEqual(['span']);
  });

  it('the events of a request contain neither the token nor the body', async () => {
    const events = recordEvents();
    const { port } = await listen({
      authenticate: (token) => {
        throw new Error(`who is ${token}?`);
      },
    });
    await sendRaw(port, post(7));
    expect(steps(events)).toEqual(['start', 'error', 'end']);
    expect(JSON.stringify(events)).not.toMatch(/good|Monstera/);
  });

  it('the events of a request are published if the logger throws', async () => {
    const events = recordEvents();
    const fail = () => {
      throw new Error('the collector is unavailable');
    };
    const { port } = await listen({ logger: { info: fail, warn: fail, error: fail } });
    await sendRaw(port, post(7));
    expect(steps(events)).toEqual(['start', 'end']);
  });
});

const programOf = (step: string) => `
  import { subscribe } from 'node:diagnostics_channel';
  import { createMemoryRepository } from '@plantstore/core';
  import { startServer } from '@plantstore/server';
  subscribe('plantstore:request:${step}', () => { throw new Error('a bug of the subscriber'); });
  process.on('uncaughtException', ({ message }) => console.log(message));
  const repository = createMemoryRepository();
  const started = await startServer({ repository, authenticate: () => true, port: 0 });
  const server = started._unsafeUnwrap();
  const headers = { Authorization: 'Bearer x', 'Content-Type': 'application/json' };
  for (const id of [1, 2]) {
    const body = JSON.stringify({ id, name: 'Monstera' });
    console.log((await fetch(server.url, { method: 'POST', headers, body })).status);
  }
  await server.close();
`;

it.each(['start', 'end'])(
  'a subscriber that throws (%s) changes no response and causes an uncaught exception',
  async (step) => {
    const flags = ['--conditions=@plantstore/source', '--input-type=module', '--eval'];
    const cwd = fileURLToPath(new URL('..', import.meta.url));
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, [...flags, programOf(step)], { cwd });
    expect(stdout.trim().split('\n').toSorted()).toEqual([
      '200',
      '200',
      'a bug of the subscriber',
      'a bug of the subscriber',
    ]);
  },
);

it('a log line and its events have the same request id', async () => {
  const events = recordEvents();
  const { logged, logger } = recordLog();
  const { port } = await listen({ logger });
  await sendRaw(port, 'hello\r\n\r\n');
  expect(events.map(([, { request }]) => request.requestId)).toEqual([
    logged[0]?.['requestId'],
    logged[0]?.['requestId'],
  ]);
});
