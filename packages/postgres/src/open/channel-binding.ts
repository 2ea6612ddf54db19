import type { Connection } from 'pg';

const refuse = (): never => {
  throw new Error(
    'the server does not offer a login that channel_binding=require allows: SCRAM-SHA-256-PLUS over TLS',
  );
};

/**
 * Closes a connection whose authentication does not use channel binding, before it sends a password. The driver
 * uses channel binding only if the server offers it. These listeners run before those of the driver, and an
 * error that they throw closes the connection.
 */
export const requireChannelBinding = (connection: Connection): void => {
  let isBound = false;
  connection.on('authenticationCleartextPassword', refuse);
  connection.on('authenticationMD5Password', refuse);
  connection.on('authenticationSASL', ({ mechanisms }: { readonly mechanisms: string[] }) => {
    if (!mechanisms.includes('SCRAM-SHA-256-PLUS')) refuse();
  });
  connection.on('authenticationSASLFinal', () => {
    isBound = true;
  });
  connection.on('authenticationOk', () => {
    if (!isBound) refuse();
  });
};
