import { once } from 'node:events';
import { connect } from 'node:net';
import { connectRaw, parseResponses, sendRaw } from '@plantstore/test-support/raw-http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startHealth } from './health-server.ts';

const running = async (isReady: () => Promise<boolean>) => {
  const health = await startHealth(isReady, { host: '127.0.0.1', port: 0 });
  if (health.kind !== 'running') throw new Error(health.message);
  onTestFinished(health.close);
  return { ...health, port: Number(new URL(health.url).port) };
};

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

describe('the health server', () => {
  it('tells life from readiness', async () => {
    const state = { isReady: false };
    const { port } = await running(async () => state.isReady);
    const statuses = async () => [
      (await sendRaw(port, get('/livez'))).status,
      (await sendRaw(port, get('/readyz?verbose'))).status,
    ];
    expect(await statuses()).toEqual([200, 503]);
    state.isReady = true;
    expect(await statuses()).toEqual([200, 200]);
  });

  it('answers in a little JSON that nobody keeps, and ends the connection', async () => {
    const { port } = await running(async () => false);
    const { headers, body } = await sendRaw(port, get('/readyz'));
    expect(body).toBe('{"status":"not ready"}\n');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      connection: 'close',
    });
  });

  it('has no body for HEAD', async () => {
    const { port } = await running(async () => true);
    const { socket, ended } = await connectRaw(port);
    socket.write('HEAD /readyz HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await ended).toMatch(/^HTTP\/1\.1 200 [^{]*$/);
    socket.destroy();
  });

  it.each([
    [404, 'GET / HTTP/1.1'],
    [404, 'GET /readyz/ HTTP/1.1'],
    [404, 'POST /plants HTTP/1.1'],
    [405, 'POST /livez HTTP/1.1'],
    [405, 'DELETE /readyz HTTP/1.1'],
    [400, 'nonsense'],
    [431, `GET /livez HTTP/1.1\r\nCookie: ${'x'.repeat(9_000)}`],
  ])('answers %i to %s', async (status, head) => {
    const { port } = await running(async () => true);
    const response = await sendRaw(port, `${head}\r\nHost: a\r\nContent-Length: 0\r\n\r\n`);
    expect(response.status).toBe(status);
    if (status === 405) expect(response.headers).toMatchObject({ allow: 'GET, HEAD' });
  });

  it('answers one request a connection', async () => {
    const { port } = await running(async () => true);
    const { socket, ended } = await connectRaw(port);
    socket.write(get('/livez') + get('/livez'));
    expect(parseResponses(await ended)).toMatchObject([{ status: 200 }]);
    socket.destroy();
  });

  it('closes with connections that bring nothing, and an answer that is not there yet', async () => {
    const { port, close } = await running(async () => new Promise(() => {}));
    const silent = connect(port, '127.0.0.1');
    await once(silent, 'connect');
    const asking = await connectRaw(port);
    asking.socket.write(get('/livez'));
    await asking.until((text) => text.includes('alive'));
    const waiting = await connectRaw(port);
    waiting.socket.write(get('/readyz'));
    await close();
    expect(await waiting.ended).toBe('');
    for (const socket of [silent, asking.socket, waiting.socket]) socket.destroy();
  });

  it('says why it cannot listen', async () => {
    const { port } = await running(async () => true);
    expect(await startHealth(async () => true, { host: '127.0.0.1', port })).toMatchObject({
      kind: 'cannot-listen',
      message: `127.0.0.1:${port} is taken by another process; choose another port`,
    });
  });
});
