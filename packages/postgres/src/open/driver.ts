import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Connection } from 'pg';
import type { Address } from './database-url.ts';

// What the driver does not do. It would replace about 85 lines of this package with several hosts
// (brianc/node-postgres#3643) and canceling (brianc/node-postgres#3751).

/**
 * Sends a CancelRequest for the statement of a connection. A server does not detect that its client
 * has disconnected while a statement waits for a lock or a standby. Without cancellation, each
 * retry would occupy another connection until none is left. Errors are ignored.
 */
export function cancelStatement({ host, port }: Address, key: BackendKey): void {
  const request = Buffer.alloc(16);
  for (const [index, value] of [16, cancelCode, key.processID, key.secretKey].entries())
    request.writeInt32BE(value, index * 4);
  const socket = host.startsWith('/')
    ? connect(`${host}/.s.PGSQL.${port}`)
    : connect({ host, port });
  socket.on('error', () => {});
  // The server closes the connection after it has processed the request; a pooler needs it until then.
  socket.setTimeout(cancelTimeoutMs, () => socket.destroy());
  socket.end(request);
}

/** The BackendKeyData message, which a CancelRequest repeats. */
export type BackendKey = { readonly processID: number; readonly secretKey: number };

// "CancelRequest" (postgresql.org/docs/current/protocol-message-formats.html).
const cancelCode = 80_877_102;
const cancelTimeoutMs = 500;

/**
 * Closes a connection whose authentication does not use channel binding, before it sends a
 * password. The driver uses it only if the server offers it. These listeners run before the
 * driver's, and their errors close the connection.
 */
export function requireChannelBinding(connection: Connection): void {
  let isBound = false;
  connection.on('authenticationCleartextPassword', refuseLogin);
  connection.on('authenticationMD5Password', refuseLogin);
  connection.on('authenticationSASL', ({ mechanisms }: { readonly mechanisms: string[] }) => {
    if (!mechanisms.includes('SCRAM-SHA-256-PLUS')) refuseLogin();
  });
  connection.on('authenticationSASLFinal', () => (isBound = true));
  connection.on('authenticationOk', () => {
    if (!isBound) refuseLogin();
  });
}

function refuseLogin(): never {
  throw new Error(
    'the server does not offer a login that channel_binding=require allows: SCRAM-SHA-256-PLUS over TLS',
  );
}

/**
 * Destroys a stream with the exception of a listener instead of throwing it. The driver's listeners
 * throw for unknown messages, which would end the process. Remove when malformed-messages.test.ts
 * passes without it.
 */
export function guardParsing(stream: Duplex): void {
  const emit = stream.emit.bind(stream) as (event: string | symbol, ...args: unknown[]) => boolean;
  stream.emit = (event: string | symbol, ...args: unknown[]): boolean => {
    try {
      return emit(event, ...args);
    } catch (thrown) {
      stream.destroy(thrown instanceof Error ? thrown : new Error('unknown failure'));
      return true;
    }
  };
}
