import { once } from 'node:events';
import { connect } from 'node:net';
import { runsAll } from '@plantstore/test-support/sample';
import { expect, it, onTestFinished } from 'vitest';
import { post, startProgram } from './program.ts';

const packetBytes = 65_536;
const request = 'GET / HTTP/1.1\r\n\r\n';
const connections = runsAll ? 250 : 30;
/** A heap that is too small for the requests of so many packets, in MB. */
const heap = runsAll ? 256 : 32;

it('the server responds while unauthenticated clients send packets full of requests and read nothing', async () => {
  const server = await startProgram({
    args: ['--database', 'memory:'],
    nodeArgs: [`--max-old-space-size=${heap}`],
  });
  const sockets = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => {});
      onTestFinished(() => void socket.destroy());
      await once(socket, 'connect');
      return socket.pause();
    }),
  );
  const packet = request.repeat(Math.floor(packetBytes / request.length));
  for (const socket of sockets) socket.write(packet);
  expect((await post(server.url, '{"id":1,"name":"x"}')).status).toBe(200);
  server.process.kill('SIGTERM');
  expect(await server.exited).toBe(0);
});
