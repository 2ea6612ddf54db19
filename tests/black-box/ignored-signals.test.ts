import { requiresPosix } from '@plantstore/test-support/requires';
import { describe, expect, it } from 'vitest';
import { post, startProgram, untilLogged } from './program.ts';

// SIGUSR1 opens Node's debugger by default, and the others end the process. Windows does not have them.
describe('signal that the server does not use', requiresPosix, () => {
  it('an unused signal is ignored with a log line', async () => {
    const server = await startProgram({ args: ['--database', 'memory:'] });
    for (const signal of ['SIGUSR1', 'SIGUSR2', 'SIGIO'] as const) {
      server.process.kill(signal);
      await untilLogged(server, `"signal":"${signal}"`);
    }
    expect(await post(server.url, '{"id":7,"name":"Monstera"}')).toMatchObject({ status: 200 });
    server.process.kill('SIGTERM');
    expect(await server.exited).toBe(0);
    expect(server.stderr()).not.toContain('Debugger');
  });

  it('a signal that the server does not use does not end a server that is starting', async () => {
    const preload = `
      import { registerHooks } from 'node:module';
      let sent = false;
      registerHooks({ load(url, context, next) {
        if (!sent && url.endsWith('/main.ts')) { sent = true; process.kill(process.pid, 'SIGUSR2'); }
        return next(url, context);
      } });`;
    const server = await startProgram({
      args: ['--database', 'memory:'],
      nodeArgs: ['--import', `data:text/javascript,${encodeURIComponent(preload)}`],
    });
    server.process.kill('SIGTERM');
    expect(await server.exited).toBe(0);
  });
});
