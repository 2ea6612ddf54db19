import { once } from 'node:events';
import { connect } from 'node:net';
import type { Address } from './database-url.ts';
import { withTimeout } from './with-timeout.ts';

// "CancelRequest" (postgresql.org/docs/current/protocol-message-formats.html).
const cancelCode = 80_877_102;

const cancelTimeoutMs = 500;

/**
 * Sends a CancelRequest for the statement of a connection. A server does not detect that its client has
 * disconnected while a statement waits for a lock or a standby. Without cancellation, each retry would occupy
 * another connection until none is left. Never throws; errors are ignored.
 */
export const cancelStatement = async (
  { host, port }: Address,
  processId: number,
  secretKey: number,
): Promise<void> => {
  const request = Buffer.alloc(16);
  for (const [index, value] of [request.length, cancelCode, processId, secretKey].entries()) {
    request.writeInt32BE(value, index * 4);
  }
  const socket = host.startsWith('/')
    ? connect(`${host}/.s.PGSQL.${port}`)
    : connect({ host, port });
  socket.end(request);
  // The server closes the connection after it has processed the request; a pooler needs it until then.
  socket.resume();
  await withTimeout(cancelTimeoutMs, once(socket, 'close')).catch(() => {});
  socket.destroy();
};
