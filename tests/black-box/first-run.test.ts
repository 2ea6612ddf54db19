import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { requiresLinux } from '@plantstore/test-support/requires';
import { describe, expect, it } from 'vitest';
import { acceptingMessage } from '../../packages/plantstore/src/serve/log-messages.ts';
import { newFolder, post, startProgram, startWithoutTokens } from './program.ts';

const run = promisify(execFile);

// Only Linux has /proc.
it('the process has the name of the program', requiresLinux, async () => {
  const { process: child } = await startProgram({ args: ['--database', 'memory:'] });
  const name = await readFile(`/proc/${child.pid}/comm`, 'utf8');
  expect(name).toBe('plantstore\n');
});

describe('first run without tokens', () => {
  it('a first run without tokens prints a curl command that works as pasted, repeatedly', async ({
    skip,
  }) => {
    await run('curl', ['--version']).catch(() => skip('this machine has no curl'));
    const { curl } = await startWithoutTokens({
      args: ['--database', 'memory:', '--base-path', "/it's a garden"],
    });
    for (const proxy of [{}, { http_proxy: 'http://127.0.0.1:1' }]) {
      const { stdout } = await run('sh', ['-c', curl], { env: { ...process.env, ...proxy } });
      expect(stdout).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(stdout).toMatch(/\{"name":"Monstera","tag":"climber"\}$/);
    }
  });

  it('a first run without tokens does not log the generated token', async () => {
    const { url, token, stdout } = await startWithoutTokens({
      args: ['--database', 'memory:'],
    });
    expect(token.length).toBeGreaterThan(20);
    await fetch(url, { method: 'POST', headers: { Authorization: `Bearer ${token}` } });
    expect(stdout()).not.toContain(token);
  });
});

describe('log whose pipe is closed', () => {
  it('a log whose pipe is closed does not keep plants from being created', async () => {
    const server = await startProgram({ args: ['--database', 'memory:'] });
    server.process.stdout?.destroy();
    server.process.stderr?.destroy();
    for (const id of [1, 2, 3, 4, 5]) {
      expect(await post(server.url, `{"id":${id},"name":"x"}`)).toMatchObject({ status: 200 });
    }
    server.process.kill('SIGTERM');
    expect(await server.exited).toBe(0);
  });
});

describe('first log line', () => {
  it('the first log line has the URL of the operation, as JSON if the output is not a terminal', async () => {
    const path = join(await newFolder(), 'plants.db');
    const server = await startProgram({
      args: ['--database', `sqlite:${path}`, '--base-path', '/garden'],
    });
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
});
