import { errorTable } from '@plantstore/core/errors';
import { connectTls } from '@plantstore/test-support/raw-http';
import { describe, expect, it } from 'vitest';
import { startProgram, token, untilLogged } from '../black-box/program.ts';
import { read } from '../docs/pages.ts';
import { type proxies, startProxy } from './proxies.ts';

const plant = (id: number, name = 'Monstera') => JSON.stringify({ id, name });

describe.each(['nginx', 'Caddy'] satisfies (keyof typeof proxies)[])('behind %s', (name) => {
  const startBoth = async (...args: readonly string[]) => {
    const server = await startProgram({ args });
    const proxy = await startProxy(name, server.port);
    return { server, proxy, send: proxy.send };
  };

  it(`requests and responses pass through ${name} unchanged, also with a base path`, async () => {
    const proxies = ['--trusted-proxies', '127.0.0.0/16'];
    const { server, send } = await startBoth('--base-path', '/garden/v1', ...proxies);
    const at = (path: string, headers = {}) => ({ path: `/garden/v1${path}`, headers });
    const own = { 'X-Request-Id': 'order-1234/a', 'X-Forwarded-For': '192.0.2.1' };
    const created = await send(plant(7), at('/plants', own));
    expect(created).toMatchObject({ status: 200, body: '{"name":"Monstera"}' });
    expect(created.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': '19',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': 'order-1234/a',
    });
    // The client cannot write its address.
    await untilLogged(server, '"client":"127.0.0.1"');
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

  it(`a client of ${name} that ends its side of the connection gets no 200 but that of the server`, async () => {
    const { proxy } = await startBoth();
    for (let id = 100; id < 120; id += 1) {
      // The first body is incomplete.
      const body = id === 100 ? '{"id":8,' : plant(id);
      const { socket, ended } = await connectTls(proxy.port);
      const fields = ['Host: 127.0.0.1', `Authorization: Bearer ${token}`];
      fields.push('Content-Type: application/json', `Content-Length: ${plant(id).length}`);
      socket.end(`POST /plants HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${body}`);
      const received = await ended;
      socket.destroy();
      if (received.includes('HTTP/1.1 200')) expect(received).toContain('{"name":"Monstera"}');
      if (id === 100) expect(received).not.toContain('HTTP/1.1 200');
    }
  });
});

it('Caddy closes an idle connection to the server before the server does', () => {
  const page = read('docs/operating.md');
  const seconds = (text: RegExp) => Number(text.exec(page)?.[1]);
  expect(seconds(/^ +keepalive (\d+)s$/m)).toBeLessThan(
    seconds(/--keep-alive-timeout-ms` \((\d+) seconds\)/),
  );
});
