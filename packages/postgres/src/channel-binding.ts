import type { Connection } from 'pg';

const refuse = (): never => {
  throw new Error(
    'the server does not offer a login that channel_binding=require allows: SCRAM-SHA-256-PLUS over TLS',
  );
};

/**
 * Ends a connection whose login is not bound to its TLS certificate, before it sends a password. The
 * driver binds where the server offers it, and else logs in without. Its listeners come after these,
 * and an error that they throw ends the connection.
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
