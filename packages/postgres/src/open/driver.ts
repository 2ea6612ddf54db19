import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Connection } from 'pg';
import type { Address } from './database-url.ts';

// What the driver does not do. With several hosts (brianc/node-postgres#3643) and canceling
// (brianc/node-postgres#3751), it would replace about 85 lines of this package.

/**
 * Sends a CancelRequest for a statement whose connection is closed. The server does not notice that
 * while the statement waits for a standby, which ends with no timeout: each retry would occupy
 * another connection until none is left. Errors are ignored.
 */
export function cancelStatement({ host, port }: Address, key: BackendKey): void {
  const request = Buffer.alloc(16);
  for (const [index, value] of [16, cancelCode, key.processID, key.secretKey].entries())
    request.writeInt32BE(value, index * 4);
  const socket = connect(
    host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port },
  );
  socket.on('error', () => {});
  // The server closes the connection when it is done; a pooler needs it until then.
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
 * password: the driver uses it only if the server offers it. These listeners run before the
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
  throw new Error('the server does not offer what channel_binding=require permits: SCRAM with TLS');
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
