import { setTimeout as sleep } from 'node:timers/promises';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@plantstore/test-support/free-port';
import { requiresLinux } from '@plantstore/test-support/requires';
import { describe, expect, it } from 'vitest';
import { beginPost } from './begin-post.ts';
import { newFolder, post, spawnProgram, startProgram, untilLogged } from './program.ts';
import { stoppingMessage } from '../../packages/plantstore/src/serve/log-messages.ts';

const startWithHealth = async (args: readonly string[] = []) => {
  const server = await startProgram({ args: ['--health-port', '0', ...args] });
  const { health } = JSON.parse(server.stdout().split('\n')[0] ?? '') as { health: string };
  const statusOf = async (path: string) => (await fetch(health + path)).status;
  return { server, statusOf };
};

describe('health port of the real server', () => {
  it('the health port of the real server is not ready during a graceful shutdown', async () => {
    const { server, statusOf } = await startWithHealth();
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
});

describe('the health check of the image', () => {
  const probe = async (env: Readonly<Record<string, string>>) => {
    const script = fileURLToPath(new URL('../../deploy/probe.mjs', import.meta.url));
    const { exited } = spawnProgram({ command: [process.execPath, script], env });
    return exited;
  };

  it.for(['', '127.0.0.2'])(
    'the health check of the image reaches a server on the host "%s", with a proxy in the environment, too',
    requiresLinux,
    async (host) => {
      const port = await freePort();
      const env = {
        PLANTSTORE_HEALTH_PORT: String(port),
        ...(host !== '' && { PLANTSTORE_HOST: host }),
      };
      const proxy = { NODE_USE_ENV_PROXY: '1', http_proxy: 'http://127.0.0.1:1' };
      const server = await startProgram({ env });
      expect(await probe({ ...env, ...proxy })).toBe(0);
      server.process.kill('SIGTERM');
      await server.exited;
      expect(await probe(env)).toBe(1);
    },
  );

  it('the health check of the image says that it needs a fixed port', async () => {
    const script = fileURLToPath(new URL('../../deploy/probe.mjs', import.meta.url));
    const env = { PLANTSTORE_HEALTH_PORT: '0' };
    const { exited, stderr } = spawnProgram({ command: [process.execPath, script], env });
    expect(await exited).toBe(1);
    expect(stderr()).toContain('set another one');
  });
});
