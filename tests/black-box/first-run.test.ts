import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { requiresLinux } from '@plantstore/test-support/requires';
import { expect, it } from 'vitest';
import { acceptingMessage } from '../../packages/plantstore/src/serve/log-messages.ts';
import {
  newFolder,
  post,
  startProgram,
  startWithoutTokens,
  token,
  untilLogged,
} from './program.ts';

const run = promisify(execFile);

// Only Linux has /proc.
it('the process has the name of the program', requiresLinux, async () => {
  const { process: child } = await startProgram();
  expect(await readFile(`/proc/${child.pid}/comm`, 'utf8')).toBe('plantstore\n');
});

it('a first run without tokens prints a curl command that works as pasted, repeatedly, and does not log its token', async ({
  skip,
}) => {
  await run('curl', ['--version']).catch(() => skip('this machine has no curl'));
  const args = ['--database', 'memory:', '--base-path', "/it's a garden"];
  const server = await startWithoutTokens({ args });
  for (const proxy of [{}, { http_proxy: 'http://127.0.0.1:1' }]) {
    const { stdout } = await run('sh', ['-c', server.curl], { env: { ...process.env, ...proxy } });
    expect(stdout).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(stdout).toMatch(/\{"name":"Monstera","tag":"climber"\}$/);
  }
  await untilLogged(server, '"status":200');
  expect(server.token.length).toBeGreaterThan(20);
  expect(server.stdout()).not.toContain(server.token);
});

it('a log whose pipe is closed does not keep plants from being created', async () => {
  const server = await startProgram();
  server.process.stdout?.destroy();
  server.process.stderr?.destroy();
  for (const id of [1, 2, 3, 4, 5])
    expect(await post(server.url, `{"id":${id},"name":"x"}`)).toMatchObject({ status: 200 });
  server.process.kill('SIGTERM');
  expect(await server.exited).toBe(0);
});

it('the first log line has the URL of the operation, as JSON if the output is not a terminal', async () => {
  const path = join(await newFolder(), 'plants.db');
  const args = ['--database', `sqlite:${path}`, '--base-path', '/garden'];
  const server = await startProgram({ args });
  const [first = ''] = server.stdout().split('\n');
  expect(JSON.parse(first)).toMatchObject({
    level: 'info',
    message: acceptingMessage,
    url: `http://127.0.0.1:${server.port}/garden/plants`,
    database: `sqlite:${path}`,
    pid: server.process.pid,
  });
  // The health port is open only with a setting.
  expect(JSON.parse(first)).not.toHaveProperty('health');
  expect(server.stderr()).toBe('');
});

it('pages of --cors-origins can create plants, and the log has the client behind --trusted-proxies', async () => {
  const cors = ['--cors-origins=https://garden.example', '--cors-allowed-headers=traceparent'];
  const args = ['--database=memory:', ...cors, '--trusted-proxies=127.0.0.0/8'];
  const server = await startProgram({ args });
  const from = { Origin: 'https://garden.example', 'X-Forwarded-For': '192.0.2.7' };
  const preflight = await fetch(server.url, {
    method: 'OPTIONS',
    headers: { ...from, 'Access-Control-Request-Method': 'POST' },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-headers')).toContain('traceparent');
  const headers = { ...from, Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const body = '{"id":7,"name":"Monstera"}';
  const created = await fetch(server.url, { method: 'POST', headers, body });
  expect(created.headers.get('access-control-allow-origin')).toBe(from.Origin);
  await untilLogged(server, '"client":"192.0.2.7"');
});
