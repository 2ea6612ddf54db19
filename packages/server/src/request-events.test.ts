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
import { head, listen, post } from '../test/listen.ts';
import { recordEvents, steps } from '../test/record-events.ts';
import { recordLog } from '../test/record-log.ts';
import { createRequestListener } from './create-request-listener.ts';

const aNumber = expect.any(Number) as unknown;

describe('the events of a request', () => {
  it('are its start and its end', async () => {
    const told = recordEvents();
    const { port } = await listen();
    const { headers } = await sendRaw(port, post(7));
    const request = {
      requestId: headers['x-request-id'],
      method: 'POST',
      path: '/plants',
      client: '127.0.0.1',
    };
    expect(told).toEqual([
      ['start', { request }],
      ['end', { request, status: 200, bytes: 19, durationMs: aNumber, isWritten: true }],
    ]);
  });

  it('carry the same object, so that two of one id are told apart', async () => {
    const told = recordEvents();
    const { port } = await listen();
    const get = head(['Host: a', 'X-Request-Id: x'], 'GET /plants HTTP/1.1');
    await Promise.all([sendRaw(port, get), sendRaw(port, get)]);
    const [one, other] = new Set(told.map(([, { request }]) => request));
    expect([one, other]).toEqual([one, one]);
    for (const request of [one, other]) {
      expect(steps(told.filter(([, event]) => event.request === request))).toEqual([
        'start',
        'end',
      ]);
    }
  });

  it.each<[number, number, string, PlantRepository['create']]>([
    [500, 3500, 'Error: a bug', () => new ResultAsync(Promise.reject(new Error('a bug')))],
    [503, 3503, 'full', () => errAsync({ kind: 'store-unavailable', reason: 'full' })],
  ])('have a fault of ours with its cause: %i', async (status, error, cause, create) => {
    const told = recordEvents();
    const { port } = await listen({ repository: { create } });
    await sendRaw(port, post(7));
    expect(steps(told)).toEqual(['start', 'error', 'end']);
    expect(told[1]?.[1]).toMatchObject({
      status,
      error,
      cause: expect.stringMatching(cause) as unknown,
    });
    expect(told[2]?.[1]).toMatchObject({ status, error, isWritten: true });
  });

  it('have no fault of ours where the request was at fault', async () => {
    const told = recordEvents();
    const { port } = await listen();
    await sendRaw(port, 'BREW /plants HTTP/1.1\r\nHost: a\r\n\r\n');
    await sendRaw(port, head(['Host: a'], 'CONNECT a:1 HTTP/1.1'));
    await sendRaw(port, head(['Host: a']));
    expect(steps(told)).toEqual(['start', 'end', 'start', 'end', 'start', 'end']);
    expect(told.filter(([step]) => step === 'end').map(([, event]) => event)).toMatchObject([
      { request: { requestId: expect.any(String) as unknown }, status: 501, error: 2501 },
      { request: { method: 'CONNECT' }, status: 404, error: 2404 },
      { request: { method: 'POST' }, status: 401, error: 2401 },
    ]);
  });

  it('start in the context in which Node hands the request over', async () => {
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
    const seen: unknown[] = [];
    const note = () => void seen.push(context.getStore());
    subscribe('plantstore:request:start', note);
    onTestFinished(() => void unsubscribe('plantstore:request:start', note));
    await sendRaw((server.address() as AddressInfo).port, post(7));
    expect(seen).toEqual(['span']);
  });

  it('hold neither the token nor the body', async () => {
    const told = recordEvents();
    const { port } = await listen({
      authenticate: (token) => {
        throw new Error(`who is ${token}?`);
      },
    });
    await sendRaw(port, post(7));
    expect(steps(told)).toEqual(['start', 'error', 'end']);
    expect(JSON.stringify(told)).not.toMatch(/good|Monstera/);
  });

  it('go to who listens, whatever the logger does', async () => {
    const told = recordEvents();
    const fail = () => {
      throw new Error('the collector is away');
    };
    const { port } = await listen({ logger: { info: fail, warn: fail, error: fail } });
    await sendRaw(port, post(7));
    expect(steps(told)).toEqual(['start', 'end']);
  });
});

const programOf = (step: string) => `
  import { subscribe } from 'node:diagnostics_channel';
  import { createMemoryRepository } from '@plantstore/core';
  import { startServer } from '@plantstore/server';
  subscribe('plantstore:request:${step}', () => { throw new Error('a bug of the listener'); });
  process.on('uncaughtException', ({ message }) => console.log(message));
  const repository = createMemoryRepository();
  const { server } = await startServer({ repository, authenticate: () => true, port: 0 });
  const headers = { Authorization: 'Bearer x', 'Content-Type': 'application/json' };
  for (const id of [1, 2]) {
    const body = JSON.stringify({ id, name: 'Monstera' });
    console.log((await fetch(server.url, { method: 'POST', headers, body })).status);
  }
  await server.close();
`;

it.each(['start', 'end'])(
  'a listener that throws (%s) changes no answer; Node tells the process',
  async (step) => {
    const flags = ['--conditions=@plantstore/source', '--input-type=module', '--eval'];
    const cwd = fileURLToPath(new URL('..', import.meta.url));
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, [...flags, programOf(step)], { cwd });
    expect(stdout.trim().split('\n').toSorted()).toEqual([
      '200',
      '200',
      'a bug of the listener',
      'a bug of the listener',
    ]);
  },
);

it('a line of the log and its events have the same id', async () => {
  const told = recordEvents();
  const { logged, logger } = recordLog();
  const { port } = await listen({ logger });
  await sendRaw(port, 'hello\r\n\r\n');
  expect(told.map(([, { request }]) => request.requestId)).toEqual([
    logged[0]?.['requestId'],
    logged[0]?.['requestId'],
  ]);
});
