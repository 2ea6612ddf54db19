import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { PlantRepository } from '@plantstore/core';
import { sendRaw } from '@plantstore/test-support/raw-http';
import { recordLog, until } from '@plantstore/test-support/record-log';
import { errAsync, ResultAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { goodFields, head, listen, open, post } from '../../test/listen.ts';
import { recordEvents, steps } from '../../test/record-events.ts';

const aNumber = expect.any(Number) as unknown;

describe('events of a request', () => {
  it('the events of a request are one start and one end', async () => {
    const events = recordEvents();
    const { port } = await listen();
    const { headers } = await sendRaw(port, post(7));
    const path = { method: 'POST', path: '/plants', client: '127.0.0.1' };
    const request = { requestId: headers['x-request-id'], ...path };
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
      const own = events.filter(([, event]) => event.request === request);
      expect(steps(own)).toEqual(['start', 'end']);
    }
  });

  it.each<[number, number, string, PlantRepository['create']]>([
    [500, 3500, 'Error: a bug', () => new ResultAsync(Promise.reject(new Error('a bug')))],
    [503, 3503, 'full', () => errAsync({ kind: 'store-unavailable', reason: 'full' })],
  ])(
    'the events of a request include an error with its cause for a %i',
    async (status, error, reason, create) => {
      const events = recordEvents();
      const { port } = await listen({ repository: { create } });
      await sendRaw(port, post(7));
      expect(steps(events)).toEqual(['start', 'error', 'end']);
      const cause = expect.stringMatching(reason) as unknown;
      expect(events[1]?.[1]).toMatchObject({ status, error, cause });
      expect(events[2]?.[1]).toMatchObject({ status, error, isWritten: true });
    },
  );

  it('the events of a request include no error for a client error, and have the request id of its log line', async () => {
    const events = recordEvents();
    const { logged, logger } = recordLog();
    const { port } = await listen({ logger });
    await sendRaw(port, 'BREW /plants HTTP/1.1\r\nHost: a\r\n\r\n');
    await sendRaw(port, head(['Host: a'], 'CONNECT a:1 HTTP/1.1'));
    await sendRaw(port, head(['Host: a']));
    expect(steps(events)).toEqual(['start', 'end', 'start', 'end', 'start', 'end']);
    const [one, two, three] = logged.map(({ requestId }) => requestId);
    expect(events.filter(([step]) => step === 'end').map(([, event]) => event)).toMatchObject([
      { request: { requestId: one }, status: 400, error: 1000 },
      { request: { requestId: two, method: 'CONNECT' }, status: 404, error: 2404 },
      { request: { requestId: three, method: 'POST' }, status: 401, error: 2401 },
    ]);
  });

  it('the events and the log line of a request contain neither the token nor the body nor the query, also if authenticate and the logger throw', async () => {
    const events = recordEvents();
    const lines: unknown[] = [];
    const fail = (...line: readonly unknown[]) => {
      lines.push(line);
      throw new Error('the collector is unavailable');
    };
    const { port } = await listen({
      authenticate: (token) => {
        throw new Error(`the token service failed for ${token}`);
      },
      logger: { info: fail, warn: fail, error: fail },
    });
    const { status, body } = await sendRaw(port, post(7).replace('/plants', '/plants?s3cr3t'));
    expect([status, body]).toEqual([500, expect.not.stringContaining('token')]);
    expect(steps(events)).toEqual(['start', 'error', 'end']);
    expect(JSON.stringify(lines)).toContain('the token service failed for …');
    expect(JSON.stringify([events, lines])).not.toMatch(/good|Monstera|s3cr3t/);
  });
});

it('the events of each request of a client that does not read its responses have an end', async () => {
  const events = recordEvents();
  const { socket, peer } = await open({ maxBodyBytes: 9_000_000 });
  const large = `{"id":1,"name":"${'x'.repeat(8_000_000)}"}`;
  socket.pause();
  socket.write(head([...goodFields, `Content-Length: ${large.length}`]) + large);
  socket.write(post(2) + post(3));
  // The response does not fit into the buffers of the kernel.
  await until(() => events.length === 3 && peer.writableLength > 0);
  socket.resetAndDestroy();
  await until(() => events.length === 6);
  expect(steps(events)).toEqual(['start', 'start', 'start', 'end', 'end', 'end']);
  for (const [, event] of events.slice(3))
    expect(event).toMatchObject({ status: 200, isWritten: false });
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
    const bug = 'a bug of the subscriber';
    expect(stdout.trim().split('\n').toSorted()).toEqual(['200', '200', bug, bug]);
  },
);
