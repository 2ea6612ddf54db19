import { join } from 'node:path';
import { connectRaw } from '@plantstore/test-support/raw-http';
import { describe, expect, it } from 'vitest';
import { newFolder, post, startProgram, token } from './program.ts';

/** Returns Node arguments with which a server runs this code on SIGUSR2. */
const failingWith = (code: string) => {
  const preload = `process.on('SIGUSR2', () => { ${code} });`;
  return ['--import', `data:text/javascript,${encodeURIComponent(preload)}`];
};

/** Code for the token that does not contain it literally. */
const bearerInCode = `'Bearer ' + ${JSON.stringify(token.split('-'))}.join('-')`;

describe('uncaught exception', () => {
  it.each([
    ['a rejection', `void Promise.reject(new Error('a bug with ' + ${bearerInCode}))`],
    ['a thrown object', `throw { bug: ${bearerInCode} }`],
  ])(
    '%s without a handler ends the server with status 1 and a log line, and no plant is lost',
    async (_, code) => {
      const path = join(await newFolder(), 'plants.db');
      const args = ['--database', `sqlite:${path}`];
      const server = await startProgram({ args, nodeArgs: failingWith(code) });
      expect(await post(server.url, '{"id":7,"name":"Monstera"}')).toMatchObject({ status: 200 });
      // An open connection does not keep the server from ending.
      const { socket, ended } = await connectRaw(server.port);
      socket.write('POST /plants HTTP/1.1\r\n');
      server.process.kill('SIGUSR2');
      expect(await server.exited).toBe(1);
      await ended;
      socket.destroy();
      const last = server.stdout().trimEnd().split('\n').at(-1) ?? '';
      expect(JSON.parse(last)).toMatchObject({
        level: 'error',
        message: expect.stringContaining('uncaught exception') as unknown,
      });
      expect(server.stdout() + server.stderr()).not.toContain(token);
      expect(server.stderr()).toBe('');

      const again = await startProgram({ args });
      expect(await post(again.url, '{"id":7,"name":"Ficus"}')).toMatchObject({ error: 1401 });
    },
  );

  it('an uncaught exception ends the server even if the store does not close', async () => {
    // The worker of the store ignores messages.
    const stuck = `import { Worker } from 'node:worker_threads';
      Worker.prototype.postMessage = () => {};
      process.on('SIGUSR2', () => { throw new Error('a bug'); });`;
    const path = join(await newFolder(), 'plants.db');
    const server = await startProgram({
      args: ['--database', `sqlite:${path}`],
      nodeArgs: ['--import', `data:text/javascript,${encodeURIComponent(stuck)}`],
    });
    server.process.kill('SIGUSR2');
    expect(await server.exited).toBe(1);
  });
});
