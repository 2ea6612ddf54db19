import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Runs a command with listening sockets, as systemd's socket activation does, and again after each exit with status 0:
 * `node hold-sockets.ts STARTS PROGRAM ARGUMENT…`. There is one socket for each name in LISTEN_FDNAMES.
 */
const [starts, ...command] = process.argv.slice(2);
const names = process.env['LISTEN_FDNAMES']?.split(':') ?? ['plants'];

const sockets = names.map(() => createServer().listen(0, '127.0.0.1'));
await Promise.all(sockets.map(async (socket) => once(socket, 'listening')));
// Node does not document the descriptor of a server.
const descriptors = sockets.map(
  (socket) => (socket as unknown as { readonly _handle: { readonly fd: number } })._handle.fd,
);
for (let start = 0; start < Number(starts); start += 1) {
  // Blocks the event loop, so this process accepts no connection.
  const { status } = spawnSync('sh', ['-c', 'LISTEN_PID=$$ exec "$@"', 'sh', ...command], {
    stdio: ['ignore', 'inherit', 'inherit', ...descriptors],
    env: { ...process.env, LISTEN_FDS: String(names.length) },
  });
  if (status !== 0) process.exit(status ?? 1);
}
process.exit(0);
