import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { failToOpen } from '../../test/open.ts';

it.each([
  ['an unsupported authentication method', [0x52, 0, 0, 0, 8, 0, 0, 0, 7], 'access-denied'],
  ['a truncated row', [0x44, 0, 0, 0, 4], 'unreachable'],
  ['an unexpected row', [0x44, 0, 0, 0, 6, 0, 0], 'unreachable'],
  [
    'the end of a SASL exchange that did not start',
    [0x52, 0, 0, 0, 12, 0, 0, 0, 12, 65, 65, 65, 65],
    'unreachable',
  ],
  ['a truncated BackendKeyData message', [0x4b, 0, 0, 0, 4], 'unreachable'],
])('%s from the server is an error and does not crash the process', async (_, bytes, kind) => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => socket.write(Buffer.from(bytes)));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `postgres://ada:secret@127.0.0.1:${port}/garden?sslmode=disable`;
  expect((await failToOpen(url, { connectTimeoutMs: 1_000 })).kind).toBe(kind);
});
