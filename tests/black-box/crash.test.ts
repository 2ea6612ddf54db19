import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { connectRaw } from '@plantstore/test-support/raw-http';
import { describe, expect, it } from 'vitest';
import { newFolder, post, spawnHost, startHost, token } from './host.ts';

/** Returns Node arguments with which a host runs this code on SIGUSR2. */
const failingWith = (code: string) => {
  const preload = `process.on('SIGUSR2', () => { ${code} });`;
  return ['--import', `data:text/javascript,${encodeURIComponent(preload)}`];
};

/** Code for the token that does not contain it literally. */
const bearerInCode = `'Bearer ' + ${JSON.stringify(token.split('-'))}.join('-')`;

describe('an uncaught exception', () => {
  it.each([
    ['an exception', `throw new Error('a bug with ' + ${bearerInCode})`],
    ['a rejection', `void Promise.reject(new Error('a bug with ' + ${bearerInCode}))`],
    ['a thrown object', `throw { bug: ${bearerInCode} }`],
  ])('%s ends the host with status 1 and a log line, and no plant is lost', async (_, code) => {
    const path = join(await newFolder(), 'plants.db');
    const args = ['--database', `sqlite:${path}`];
    const host = await startHost({ args, nodeArgs: failingWith(code) });
    expect(await post(host.url, '{"id":7,"name":"Monstera"}')).toMatchObject({ status: 200 });
    // An open connection does not keep the host from ending.
    const { socket, ended } = await connectRaw(host.port);
    socket.write('POST /plants HTTP/1.1\r\n');
    host.process.kill('SIGUSR2');
    expect(await host.exited).toBe(1);
    await ended;
    socket.destroy();
    const last = host.stdout().trimEnd().split('\n').at(-1) ?? '';
    expect(JSON.parse(last)).toMatchObject({
      level: 'error',
      message: expect.stringContaining('uncaught exception') as unknown,
    });
    expect(host.stdout() + host.stderr()).not.toContain(token);
    expect(host.stderr()).toBe('');
    // SQLite removes its WAL when the store is closed.
    expect(existsSync(`${path}-wal`)).toBe(false);

    const again = await startHost({ args });
    expect(await post(again.url, '{"id":7,"name":"Ficus"}')).toMatchObject({ error: 1401 });
  });

  it('ends the host even if the store does not close', async () => {
    // The worker of the store ignores messages.
    const stuck = `import { Worker } from 'node:worker_threads';
      Worker.prototype.postMessage = () => {};
      process.on('SIGUSR2', () => { throw new Error('a bug'); });`;
    const path = join(await newFolder(), 'plants.db');
    const host = await startHost({
      args: ['--database', `sqlite:${path}`],
      nodeArgs: ['--import', `data:text/javascript,${encodeURIComponent(stuck)}`],
    });
    host.process.kill('SIGUSR2');
    expect(await host.exited).toBe(1);
  });
});

describe('a log on a full disk', () => {
  // Linux has it, macOS and Windows do not.
  it.runIf(existsSync('/dev/full'))('does not keep plants from being created', async () => {
    const full = await open('/dev/full', 'w');
    const host = spawnHost({
      args: ['--database', 'memory:', '--port', '0', '--log', 'json'],
      stdout: full.fd,
    });
    while (!host.stderr().includes('curl')) {
      await new Promise((resolve, reject) => {
        host.process.stderr?.once('data', resolve);
        void host.exited.then(() => reject(new Error(host.stderr())));
      });
    }
    const [, url = ''] = /'(http:[^']+)'/.exec(host.stderr()) ?? [];
    const [, bearer = ''] = /Bearer ([^']+)/.exec(host.stderr()) ?? [];
    for (const id of [1, 2, 3, 4, 5]) {
      const headers = { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' };
      const body = `{"id":${id},"name":"x"}`;
      expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(200);
    }
    host.process.kill('SIGTERM');
    expect(await host.exited).toBe(0);
    await full.close();
  });
});
