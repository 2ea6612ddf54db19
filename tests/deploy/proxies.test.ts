import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { errorTable } from '@plantstore/core/errors';
import { freePort } from '@plantstore/test-support/free-port';
import { connectTls } from '@plantstore/test-support/raw-http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { optionRules } from '@plantstore/server';
import { newFolder, startProgram, token, untilLogged, untilOutput } from '../black-box/program.ts';
import { proxyKinds, type ProxyOptions, readDeployFile, startProxy } from './proxies.ts';
import { senderTo } from './send.ts';

const plant = (id: number, name = 'Monstera') => JSON.stringify({ id, name });
const errorBody = (name: keyof typeof errorTable) =>
  JSON.stringify({ error: errorTable[name].error, message: errorTable[name].message });

const limit = optionRules.maxBodyBytes.default;
/** A plant in a body of exactly some bytes. */
const plantOf = (bytes: number, id: number) => plant(id).padEnd(bytes, ' ');

describe.each(proxyKinds)('behind $name', (kind) => {
  const startBoth = async (options: Omit<ProxyOptions, 'upstream'> = {}, args: string[] = []) => {
    const server = await startProgram({ args: ['--database', 'memory:', ...args] });
    const proxy = await startProxy(kind, { upstream: server.port, ...options });
    return { server, proxy, send: senderTo(proxy) };
  };

  it(`responses pass through ${kind.name} unchanged`, async () => {
    const { send } = await startBoth();
    const created = await send({ body: plant(7) });
    expect(created).toMatchObject({ status: 200, body: '{"name":"Monstera"}' });
    expect(created.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': '19',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    const taken = await send({ body: plant(7, 'Ficus') });
    expect(taken.status).toBe(400);
    expect(JSON.parse(taken.body)).toMatchObject({ error: 1401 });
    const rejected = await send({ body: plant(7), headers: { Authorization: 'Bearer other' } });
    expect(rejected.status).toBe(401);
    expect(rejected.headers['www-authenticate']).toContain('invalid_token');
    expect(await send({ path: '/other', body: plant(7) })).toMatchObject({ status: 404 });
  });

  it(`a base path reaches the server behind ${kind.name} as it was sent`, async () => {
    const { send } = await startBoth({}, ['--base-path', '/garden/v1']);
    expect(await send({ path: '/garden/v1/plants', body: plant(7) })).toMatchObject({
      status: 200,
    });
    expect(await send({ path: '/garden/v1/%70lants?a=b', body: plant(7) })).toMatchObject({
      status: 200,
    });
    expect(await send({ body: plant(7) })).toMatchObject({ status: 404 });
  });

  it(`the largest body is served behind ${kind.name}, and ${kind.refusesLargeBodies} responds 413 to a larger one`, async () => {
    const { server, send } = await startBoth();
    expect(await send({ body: plantOf(limit, 7) })).toMatchObject({ status: 200 });
    const chunked = { 'Transfer-Encoding': 'chunked' };
    for (const headers of [{}, chunked]) {
      const refused = await send({ body: plantOf(limit + 1, 8), headers });
      expect(refused).toMatchObject({ status: 413, body: errorBody('body-too-large') });
      expect(refused.headers).toMatchObject({
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-request-id': expect.stringMatching(/./),
      });
    }
    const isInLog = (log: string) => log.includes('"status":413');
    if (kind.refusesLargeBodies === 'the server') await untilOutput(server, isInLog);
    else expect(isInLog(server.stdout())).toBe(false);
  });

  it(`100 Continue passes through ${kind.name} before the body is sent`, async () => {
    const { send } = await startBoth();
    expect(await send({ body: plant(7), isExpecting: true })).toMatchObject({ status: 200 });
  });

  it(`the request id is the same in the response, in the log and in the log of ${kind.name}`, async () => {
    const { server, proxy, send } = await startBoth();
    const idOf = async (sent?: string) => {
      const headers = sent === undefined ? {} : { 'X-Request-Id': sent };
      const response = await send({ body: plant(7), headers });
      const id = String(response.headers['x-request-id']);
      await untilLogged(server, `"requestId":${JSON.stringify(id)}`);
      // The proxy writes its log after the response.
      await expect.poll(proxy.accessLog, { timeout: 10_000 }).toContain(id);
      return id;
    };
    expect(await idOf('order-1234/a')).toBe('order-1234/a');
    expect(await idOf()).toMatch(/^[\da-f-]{32,36}$/);
    expect(await idOf('not an id')).toMatch(/^[\da-f-]{32,36}$/);
    expect(await idOf('a'.repeat(129))).toMatch(/^[\da-f-]{32,36}$/);
  });

  it(`the log has the client's address behind ${kind.name}, which the client cannot write`, async () => {
    const { server, send } = await startBoth({}, ['--trusted-proxies', '127.0.0.0/16']);
    const spoofed = { 'X-Forwarded-For': '192.0.2.1' };
    await send({ body: plant(7), headers: spoofed });
    await untilLogged(server, '"client":"127.0.0.1"');
  });

  it(`the server reads the client's address from ${kind.name} only`, async () => {
    const headers: IncomingHttpHeaders[] = [];
    const recorder = createServer((request, response) => {
      headers.push(request.headers);
      response.end();
    }).listen(0, '127.0.0.1');
    await once(recorder, 'listening');
    onTestFinished(() => {
      recorder.close();
      recorder.closeAllConnections();
    });
    const { port } = recorder.address() as AddressInfo;
    const send = senderTo(await startProxy(kind, { upstream: port }));
    const spoofed = { 'X-Forwarded-For': '192.0.2.1' };
    await send({ body: plant(7), headers: spoofed });
    const last = headers.at(-1);
    expect(last).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'https',
      host: expect.stringContaining('127.0.0.1'),
    });
  });

  it(`${kind.name} aborts a request whose client stops in the middle of a body, and others are served`, async () => {
    const { proxy, send } = await startBoth({ changes: kind.impatient });
    const slow = await connectTls(proxy.port);
    slow.socket.write(
      `POST /plants HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"id":8,',
    );
    expect(await send({ body: plant(7) })).toMatchObject({ status: 200 });
    expect(await slow.ended).not.toContain('HTTP/1.1 200');
    slow.socket.destroy();
    expect(await send({ body: plant(8) })).toMatchObject({ status: 200 });
  });

  it(`a client of ${kind.name} that ends its side of the connection gets no 200 but that of the server`, async () => {
    const { proxy, send } = await startBoth();
    const ending = async (body: string, length: number) => {
      const { socket, ended } = await connectTls(proxy.port);
      socket.end(
        `POST /plants HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`,
      );
      const received = await ended;
      socket.destroy();
      return received;
    };
    expect(await ending('{"id":8,', 100)).not.toContain('HTTP/1.1 200');
    for (let id = 100; id < 120; id += 1) {
      const received = await ending(plant(id), plant(id).length);
      if (received.includes('HTTP/1.1 200')) expect(received).toContain('{"name":"Monstera"}');
    }
    expect(await send({ body: plant(7) })).toMatchObject({ status: 200 });
  });

  it(`${kind.name} without a server responds with 503 in the form of the server`, async () => {
    const { server, send } = await startBoth({ changes: kind.impatient });
    expect(await send({ body: plant(7) })).toMatchObject({ status: 200 });
    server.process.kill('SIGKILL');
    await server.exited;
    const response = await send({ body: plant(8) });
    expect(response).toMatchObject({ status: 503, body: errorBody('unavailable') });
    expect(response.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'retry-after': '1',
      'x-request-id': expect.stringMatching(/./),
    });
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    `no acknowledged plant is lost behind ${kind.name} when the server ends by %s and starts again`,
    async (signal) => {
      const upstream = await freePort();
      const file = join(await newFolder(), 'plants.db');
      const args = ['--database', `sqlite:${file}`, '--port', String(upstream)];
      const first = await startProgram({ args });
      const send = senderTo(await startProxy(kind, { upstream, changes: kind.impatient }));
      const acknowledged: number[] = [];
      const load = new AbortController();
      const client = async (number: number) => {
        for (let id = number; !load.signal.aborted; id += 8) {
          const { status, body } = await send({ body: plant(id) });
          if (status === 200) acknowledged.push(id);
          else expect({ status, body }).toEqual({ status: 503, body: errorBody('unavailable') });
        }
      };
      const clients = Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(client));
      await untilOutput(first, (log) => log.split('"status":200').length > 50);
      first.process.kill(signal);
      expect(await first.exited).toBe(signal === 'SIGTERM' ? 0 : null);
      const second = await startProgram({ args });
      await untilOutput(second, (log) => log.split('"status":200').length > 50);
      load.abort();
      await clients;
      expect(acknowledged.length).toBeGreaterThan(80);
      const lost: number[] = [];
      for (const id of acknowledged) {
        const { body } = await send({ body: plant(id, 'another') });
        if (!body.includes('"error":1401')) lost.push(id);
      }
      expect(lost).toEqual([]);
    },
  );

  it(`${kind.name} closes an idle connection before the server does`, async () => {
    const [, seconds] = kind.idleSeconds.exec(await readDeployFile(kind.file)) ?? [];
    expect(Number(seconds)).toBeGreaterThan(0);
    expect(Number(seconds) * 1_000).toBeLessThan(optionRules.keepAliveTimeoutMs.default);
  });
});
