import { setTimeout as sleep } from 'node:timers/promises';
import { once } from 'node:events';
import { rename } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { freePort } from '@plantstore/test-support/free-port';
import { describe, expect, it } from 'vitest';
import { beginPost } from './begin-post.ts';
import { newFolder, post, spawnProgram, startProgram, untilLogged } from './program.ts';
import { stoppingMessage } from '../../packages/plantstore/src/log/log-messages.ts';

const startWithHealth = async (args: readonly string[]) => {
  const server = await startProgram({ args: ['--health-port', '0', ...args] });
  const { health } = JSON.parse(server.stdout().split('\n')[0] ?? '') as { health: string };
  const statusOf = async (path: string) => (await fetch(health + path)).status;
  return { server, statusOf };
};

describe('health port of the real server', () => {
  it('the health port of the real server is separate from the public port', async () => {
    const { server, statusOf } = await startWithHealth(['--database', 'memory:']);
    expect(await Promise.all(['/livez', '/readyz', '/plants'].map(statusOf))).toEqual([
      200, 200, 404,
    ]);
    expect((await fetch(new URL('/livez', server.url))).status).toBe(404);
  });

  it('the health port of the real server is not ready during a graceful shutdown', async () => {
    const { server, statusOf } = await startWithHealth(['--database', 'memory:']);
    const inFlight = await beginPost(server, '{"id":7,"name":"x"}');
    server.process.kill('SIGTERM');
    await untilLogged(server, stoppingMessage);
    expect(await statusOf('/readyz')).toBe(503);
    expect(await statusOf('/livez')).toBe(200);
    expect(await inFlight.status()).toBe(200);
    expect(await server.exited).toBe(0);
  });

  it('the health port of the real server is not ready while the database file is missing, and ready once it is back', async () => {
    const path = join(await newFolder(), 'plants.db');
    const { server, statusOf } = await startWithHealth(['--database', `sqlite:${path}`]);
    await expect.poll(async () => statusOf('/readyz')).toBe(200);
    await rename(path, `${path}.moved`);
    expect(await statusOf('/readyz')).toBe(503);
    expect(await statusOf('/livez')).toBe(200);
    await untilLogged(server, 'not ready: the store is unavailable');
    await rename(`${path}.moved`, path);
    while ((await statusOf('/readyz')) !== 200) await sleep(2);
    expect(await post(server.url, '{"id":7,"name":"x"}')).toMatchObject({ status: 200 });
    expect(server.stdout()).toContain('ready again');
  });

  it('the health port of the real server is live before the store is open', async () => {
    // A database server that accepts connections and never responds.
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const asked = once(silent, 'connection') as Promise<[Socket]>;
    const healthPort = await freePort();
    const server = spawnProgram({
      args: ['--port', '0', '--health-port', String(healthPort)],
      env: {
        PLANTSTORE_DATABASE: `postgres://ada@127.0.0.1:${port}/plants?sslmode=disable&connect_timeout=60`,
      },
    });
    const [connection] = await asked;
    const statuses = await Promise.all(
      ['/livez', '/readyz'].map(
        async (path) => (await fetch(`http://127.0.0.1:${healthPort}${path}`)).status,
      ),
    );
    expect(statuses).toEqual([200, 503]);
    connection.destroy();
    expect(await server.exited).toBe(1);
    silent.close();
  });
});
