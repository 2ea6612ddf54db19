import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@plantstore/test-support/postgres-server';
import { expect, it, onTestFinished } from 'vitest';

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The bundled host with the example loaded before it, on a file, whose thread loads it, too. */
const startHost = async (metricsPort: number) => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  const program = fileOf('../packages/server/src/bin.ts');
  const flags = ['--conditions=@plantstore/source', '--import', fileOf('prometheus-metrics.ts')];
  const host = spawn(process.execPath, [...flags, program], {
    env: {
      METRICS_PORT: String(metricsPort),
      PLANTSTORE_PORT: '0',
      PLANTSTORE_TOKENS: 'example',
      PLANTSTORE_DATABASE: `sqlite:${join(folder, 'plants.db')}`,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    host.kill();
    await once(host, 'close');
    await rm(folder, { recursive: true });
  });
  const [line] = (await once(host.stdout.setEncoding('utf8'), 'data')) as [string];
  return (JSON.parse(line) as { url: string }).url;
};

it('prometheus-metrics.ts counts and times what the bundled host answers', async () => {
  const metricsPort = await freePort();
  const url = await startHost(metricsPort);
  const send = async (body: string) => {
    const headers = { Authorization: 'Bearer example', 'Content-Type': 'application/json' };
    return (await fetch(url, { method: 'POST', headers, body })).text();
  };
  for (const id of [1, 2, 3]) await send(`{"id":${id},"name":"Monstera"}`);
  await send('{"id":1,"name":"Ficus"}');
  await (await fetch(url)).text();
  const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
  const lines = (await response.text()).split('\n');
  expect(lines.filter((line) => line.startsWith('plantstore_requests_total'))).toEqual([
    'plantstore_requests_total{status="200",error="none"} 3',
    'plantstore_requests_total{status="400",error="1401"} 1',
    'plantstore_requests_total{status="405",error="2405"} 1',
  ]);
  expect(lines).toContain('plantstore_request_duration_seconds_count 5');
});
