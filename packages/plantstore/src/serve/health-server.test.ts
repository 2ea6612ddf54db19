import { connectRaw, sendRaw } from '@plantstore/test-support/raw-http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { recordLog } from '@plantstore/test-support/record-log';
import { type MetricsPage, startHealth } from './health-server.ts';

const running = async (isReady: () => Promise<boolean>, metrics?: MetricsPage) => {
  const { logger, logged } = recordLog();
  const address = { host: '127.0.0.1', port: 0, reusePort: false };
  const health = (await startHealth({ isReady, log: logger, metrics }, address))._unsafeUnwrap();
  onTestFinished(health.close);
  return { ...health, port: Number(new URL(health.url).port), logged };
};

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

describe('the health server', () => {
  it('the health server reports liveness and readiness separately', async () => {
    const state = { isReady: false };
    const { port } = await running(async () => state.isReady);
    const statuses = async () => [
      (await sendRaw(port, get('/livez'))).status,
      (await sendRaw(port, get('/readyz?verbose'))).status,
    ];
    expect(await statuses()).toEqual([200, 503]);
    expect(await sendRaw(port, get('/readyz'))).toMatchObject({
      body: '{"status":"not ready"}\n',
      headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    });
    state.isReady = true;
    expect(await statuses()).toEqual([200, 200]);
  });

  it.each([
    [200, 'GET http://h/livez HTTP/1.1'],
    [200, 'GET HTTPS://[::1]:3001/readyz?verbose HTTP/1.1'],
    [200, 'GET /%6Civez HTTP/1.1'],
    [404, 'GET http://h HTTP/1.1'],
    [404, 'GET /livez%3Fx HTTP/1.1'],
    [404, 'GET /readyz/ HTTP/1.1'],
    [404, 'POST /plants HTTP/1.1'],
    [400, 'nonsense'],
    [431, `GET /livez HTTP/1.1\r\nCookie: ${'x'.repeat(9_000)}`],
  ])('the health server responds with %i to %s', async (status, head) => {
    const { port } = await running(async () => true);
    const response = await sendRaw(port, `${head}\r\nHost: a\r\nContent-Length: 0\r\n\r\n`);
    expect(response.status).toBe(status);
  });

  it.each(['/readyz', '/metrics'])(
    'the health server responds to %s with 500, logs the cause and keeps serving when a collector throws',
    async (path) => {
      const throws = async () => Promise.reject(new Error('a collector failed'));
      const { port, logged } = await running(throws, { read: throws, contentType: 'text/plain' });
      for (const attempt of [1, 2]) {
        expect(await sendRaw(port, get(path))).toMatchObject({
          status: 500,
          body: '{"status":"internal error"}\n',
        });
        expect(logged).toHaveLength(attempt);
      }
      expect(JSON.stringify(logged[0])).toContain('a collector failed');
      expect((await sendRaw(port, get('/livez'))).status).toBe(200);
    },
  );

  it('the health server closes a connection beyond 100', async () => {
    const { port } = await running(async () => true);
    const open = await Promise.all(Array.from({ length: 100 }, async () => connectRaw(port)));
    const refused = await connectRaw(port);
    refused.socket.write(get('/livez'));
    expect(await refused.ended).toBe('');
    for (const { socket } of [...open, refused]) socket.destroy();
  });
});
