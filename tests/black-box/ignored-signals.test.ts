import { requiresPosix } from '@plantstore/test-support/requires';
import { expect, it } from 'vitest';
import { post, startProgram, untilLogged } from './program.ts';

// SIGUSR1 opens Node's debugger by default, and the others end the process. Windows does not have them.
it('a signal that the server does not use is ignored with a log line', requiresPosix, async () => {
  const server = await startProgram();
  for (const signal of ['SIGUSR1', 'SIGUSR2', 'SIGIO'] as const) {
    server.process.kill(signal);
    await untilLogged(server, `"signal":"${signal}"`);
  }
  expect(await post(server.url, '{"id":7,"name":"Monstera"}')).toMatchObject({ status: 200 });
  server.process.kill('SIGTERM');
  expect(await server.exited).toBe(0);
  expect(server.stderr()).not.toContain('Debugger');
});
