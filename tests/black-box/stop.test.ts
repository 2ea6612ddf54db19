import { expect, it } from 'vitest';
import { beginPost } from './begin-post.ts';
import { startProgram } from './program.ts';

it('a stop whose deadline cuts a request says so, does not blame the client, and exits with 1', async () => {
  const server = await startProgram({ args: ['--shutdown-timeout-ms', '100'] });
  const inFlight = await beginPost(server, '{"id":7,"name":"x"}');
  server.process.kill('SIGTERM');
  expect(await server.exited).toBe(1);
  inFlight.socket.destroy();
  const lines = server.stdout().trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { message: 'accepting plants' },
    { level: 'warn', message: expect.stringContaining('a stop can cut requests') as unknown },
    { level: 'info', message: 'stopping: finishing the requests in flight' },
    { level: 'warn', message: 'request cut: the server stopped before its response' },
    { level: 'error', message: 'stopped at once: requests got no response in time', requests: 1 },
  ]);
});
