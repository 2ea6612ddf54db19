import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { failToOpen, noLimits } from '../../test/open.ts';

/** Starts a server that responds to all data with the same bytes. */
const startServer = async (...bytes: readonly number[]) => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => socket.write(Buffer.from(bytes)));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
};

const open = async (port: number, connectTimeoutMs: number) =>
  failToOpen(`postgres://ada:secret@127.0.0.1:${port}/garden?sslmode=disable`, {
    connectTimeoutMs,
  });

it('an unsupported authentication method is an error and does not crash the process', async () => {
  const port = await startServer(0x52, 0, 0, 0, 8, 0, 0, 0, 7);
  expect(await open(port, noLimits.connectTimeoutMs)).toMatchObject({
    kind: 'access-denied',
    message: expect.stringContaining('authenticationOk message type 7') as unknown,
  });
});

it.each([
  ['a truncated row', [0x44, 0, 0, 0, 4]],
  ['an unexpected row', [0x44, 0, 0, 0, 6, 0, 0]],
  [
    'the end of a SASL exchange that did not start',
    [0x52, 0, 0, 0, 12, 0, 0, 0, 12, 65, 65, 65, 65],
  ],
  ['a truncated BackendKeyData message', [0x4b, 0, 0, 0, 4]],
])('%s from the server is an error and does not crash the process', async (_, bytes) => {
  expect((await open(await startServer(...bytes), 1_000)).kind).toBe('unreachable');
});
