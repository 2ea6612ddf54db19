import { once } from 'node:events';
import { rename } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { freePort } from '@plantstore/test-support/postgres-server';
import { describe, expect, it } from 'vitest';
import { beginPost } from './begin-post.ts';
import { newFolder, post, spawnHost, startHost, untilLogged } from './host.ts';

const startWithHealth = async (args: readonly string[]) => {
  const host = await startHost({ args: ['--health-port', '0', ...args] });
  const { health } = JSON.parse(host.stdout().split('\n')[0] ?? '') as { health: string };
  const statusOf = async (path: string) => (await fetch(health + path)).status;
  return { host, statusOf };
};

describe('the health of the real host', () => {
  it('is on a port of its own, and not on the public one', async () => {
    const { host, statusOf } = await startWithHealth(['--database', 'memory:']);
    expect(await Promise.all(['/livez', '/readyz', '/plants'].map(statusOf))).toEqual([
      200, 200, 404,
    ]);
    expect((await fetch(new URL('/livez', host.url))).status).toBe(404);
  });

  it('is not ready first thing when it stops, while it finishes what is in flight', async () => {
    const { host, statusOf } = await startWithHealth(['--database', 'memory:']);
    const inFlight = await beginPost(host, '{"id":7,"name":"x"}');
    host.process.kill('SIGTERM');
    await untilLogged(host, (log) => log.includes('stopping'));
    expect(await statusOf('/readyz')).toBe(503);
    expect(await statusOf('/livez')).toBe(200);
    expect(await inFlight.status()).toBe(200);
    expect(await host.exited).toBe(0);
  });

  it('is not ready while the file of the plants is away, and ready when it is back', async () => {
    const path = join(await newFolder(), 'plants.db');
    const { host, statusOf } = await startWithHealth(['--database', `sqlite:${path}`]);
    expect(await statusOf('/readyz')).toBe(200);
    await rename(path, `${path}.away`);
    expect(await statusOf('/readyz')).toBe(503);
    expect(await statusOf('/livez')).toBe(200);
    await untilLogged(host, (log) => log.includes('not ready: the store is away'));
    await rename(`${path}.away`, path);
    while ((await statusOf('/readyz')) !== 200) await new Promise(setImmediate);
    expect(await post(host.url, '{"id":7,"name":"x"}')).toMatchObject({ status: 200 });
    expect(host.stdout()).toContain('ready again');
  });

  it('tells of life before the store is open', async () => {
    // Accepts a connection and says nothing: the host waits for this database.
    const mute = createServer().listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const { port } = mute.address() as AddressInfo;
    const asked = once(mute, 'connection');
    const healthPort = await freePort();
    const host = spawnHost({
      args: ['--port', '0', '--health-port', String(healthPort)],
      env: { PLANTSTORE_DATABASE: `postgres://ada@127.0.0.1:${port}/plants?sslmode=disable` },
    });
    await asked;
    const statuses = await Promise.all(
      ['/livez', '/readyz'].map(
        async (path) => (await fetch(`http://127.0.0.1:${healthPort}${path}`)).status,
      ),
    );
    expect(statuses).toEqual([200, 503]);
    expect(await host.exited).toBe(1);
    mute.close();
  });

  it('says in one line that its port is taken and exits with 1', async () => {
    const { port } = await startHost({ args: ['--database', 'memory:'] });
    const host = spawnHost({
      args: ['--database', 'memory:', '--port', '0', '--health-port', String(port)],
    });
    expect(await host.exited).toBe(1);
    expect(host.stdout()).toBe('');
    expect(host.stderr()).toMatch(
      /^plantstore-server: cannot serve health \(--health-port, PLANTSTORE_HEALTH_PORT\): 127\.0\.0\.1:\d+ is taken by another process; choose another port\n$/,
    );
  });
});
