import { connect } from 'node:net';
import type { Address } from './database-url.ts';

// "CancelRequest" (postgresql.org/docs/current/protocol-message-formats.html).
const cancelCode = 80_877_102;

const cancelTimeoutMs = 500;

/** The BackendKeyData message, which a CancelRequest repeats. */
export type BackendKey = { readonly processID: number; readonly secretKey: number };

/**
 * Sends a CancelRequest for the statement of a connection. A server does not detect that its client has
 * disconnected while a statement waits for a lock or a standby. Without cancellation, each retry would occupy
 * another connection until none is left. Errors are ignored.
 */
export const cancelStatement = (
  { host, port }: Address,
  { processID, secretKey }: BackendKey,
): void => {
  const request = Buffer.alloc(16);
  for (const [index, value] of [request.length, cancelCode, processID, secretKey].entries()) {
    request.writeInt32BE(value, index * 4);
  }
  const socket = host.startsWith('/')
    ? connect(`${host}/.s.PGSQL.${port}`)
    : connect({ host, port });
  socket.on('error', () => {});
  // The server closes the connection after it has processed the request; a pooler needs it until then.
  socket.setTimeout(cancelTimeoutMs, () => socket.destroy());
  socket.end(request);
};
