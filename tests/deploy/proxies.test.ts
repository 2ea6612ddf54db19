import { join } from 'node:path';
import { errorTable } from '@plantstore/core/errors';
import { freePort } from '@plantstore/test-support/free-port';
import { connectTls } from '@plantstore/test-support/raw-http';
import { describe, expect, it } from 'vitest';
import { newFolder, startProgram, token, untilLogged, untilOutput } from '../black-box/program.ts';
import { read } from '../docs/pages.ts';
import { type Proxy, type proxies, startProxy } from './proxies.ts';

const plant = (id: number, name = 'Monstera') => JSON.stringify({ id, name });

/** Sends a request and ends the client's side of the connection. Returns what is received. */
const endAfter = async ({ port }: Proxy, body: string, length = body.length): Promise<string> => {
  const { socket, ended } = await connectTls(port);
  socket.end(
    `POST /plants HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`,
  );
  const received = await ended;
  socket.destroy();
  return received;
};

describe.each(['nginx', 'Caddy'] satisfies (keyof typeof proxies)[])('behind %s', (name) => {
  const startBoth = async (...args: readonly string[]) => {
    const server = await startProgram({ args: ['--database', 'memory:', ...args] });
    const proxy = await startProxy(name, server.port);
    return { server, proxy, send: proxy.send };
  };

  it(`requests and responses pass through ${name} unchanged, also with a base path`, async () => {
    const { send } = await startBoth('--base-path', '/garden/v1');
    const at = (path: string, headers = {}) => ({ path: `/garden/v1${path}`, headers });
    const created = await send(plant(7), at('/plants', { 'X-Request-Id': 'order-1234/a' }));
    expect(created).toMatchObject({ status: 200, body: '{"name":"Monstera"}' });
    expect(created.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': '19',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': 'order-1234/a',
    });
    const expected = at('/%70lants?a=b', { Expect: '100-continue' });
    expect(await send(plant(7), expected)).toMatchObject({ status: 200 });
    const taken = await send(plant(7, 'Ficus'), at('/plants'));
    expect(JSON.parse(taken.body)).toMatchObject({ error: errorTable['id-taken'].error });
    const rejected = await send(plant(7), at('/plants', { Authorization: 'Bearer other' }));
    expect(rejected.status).toBe(401);
    expect(rejected.headers['www-authenticate']).toContain('invalid_token');
    expect(await send(plant(7))).toMatchObject({ status: 404 });
  });

  it(`the largest body is served behind ${name}, and the response to a larger one is 413`, async () => {
    const { send } = await startBoth();
    const limit = 2 ** 20;
    expect(await send(plant(7).padEnd(limit, ' '))).toMatchObject({ status: 200 });
    for (const headers of [{}, { 'Transfer-Encoding': 'chunked' }])
      expect(await send(plant(8).padEnd(limit + 1, ' '), { headers })).toMatchObject({
        status: 413,
      });
  });

  it(`the log has the client's address behind ${name}, which the client cannot write`, async () => {
    const { server, send } = await startBoth('--trusted-proxies', '127.0.0.0/16');
    await send(plant(7), { headers: { 'X-Forwarded-For': '192.0.2.1' } });
    await untilLogged(server, '"client":"127.0.0.1"');
  });

  it(`a client of ${name} that ends its side of the connection gets no 200 but that of the server`, async () => {
    const { proxy, send } = await startBoth();
    expect(await endAfter(proxy, '{"id":8,', 100)).not.toContain('HTTP/1.1 200');
    for (let id = 100; id < 120; id += 1) {
      const received = await endAfter(proxy, plant(id));
      if (received.includes('HTTP/1.1 200')) expect(received).toContain('{"name":"Monstera"}');
    }
    expect(await send(plant(7))).toMatchObject({ status: 200 });
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    `no acknowledged plant is lost behind ${name} when the server ends by %s and starts again`,
    async (signal) => {
      const upstream = await freePort();
      const file = join(await newFolder(), 'plants.db');
      const args = ['--database', `sqlite:${file}`, '--port', String(upstream)];
      const first = await startProgram({ args });
      const { send } = await startProxy(name, upstream);
      const acknowledged: number[] = [];
      const load = new AbortController();
      const client = async (number: number) => {
        for (let id = number; !load.signal.aborted; id += 8) {
          const { status } = await send(plant(id));
          if (status === 200) acknowledged.push(id);
          else expect([502, 503]).toContain(status);
        }
      };
      const clients = Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(client));
      const hasServed = (log: string) => log.split('"status":200').length > 50;
      await untilOutput(first, hasServed);
      first.process.kill(signal);
      expect(await first.exited).toBe(signal === 'SIGTERM' ? 0 : null);
      const second = await startProgram({ args });
      await untilOutput(second, hasServed);
      load.abort();
      await clients;
      expect(acknowledged.length).toBeGreaterThan(80);
      const lost: number[] = [];
      for (const id of acknowledged) {
        const { body } = await send(plant(id, 'another'));
        if (!body.includes('"error":1401')) lost.push(id);
      }
      expect(lost).toEqual([]);
    },
  );
});

it('Caddy closes an idle connection to the server before the server does', () => {
  const page = read('docs/operating.md');
  const seconds = (text: RegExp) => Number(text.exec(page)?.[1]);
  expect(seconds(/^ +keepalive (\d+)s$/m)).toBeLessThan(
    seconds(/--keep-alive-timeout-ms` \((\d+) seconds\)/),
  );
});
