import { once } from 'node:events';
import type { Server } from 'node:http';
import { getSystemErrorMessage } from 'node:util';
import { err, ok, type Result } from 'neverthrow';
import { optionRules, type OptionsOf } from '../http/options.ts';

/** Listens on an address, or on an open socket; on `0.0.0.0` where `::` cannot be bound. */
export async function listenOn(server: Server, options: ListenOptions): Promise<Listening> {
  const { host = optionRules.host.default, port = optionRules.port.default } = options;
  const { reusePort, fd } = options;
  try {
    // Without a host, Node.js listens on `::`, or on `0.0.0.0` if that fails.
    server.listen({ host: host === '::' ? undefined : host, port, reusePort, fd });
    await once(server, 'listening');
    const address = server.address();
    if (address !== null && typeof address === 'object') {
      const authority = `${inUrl(reachable(address.address))}:${address.port}`;
      return ok({ host: address.address, authority });
    }
    // Before the event loop accepts a connection.
    server.close();
    throw new Error('the socket has no IP address');
  } catch (cause) {
    const message = cannotListen(`${inUrl(host)}:${port}`, fd, cause);
    return err({ kind: 'cannot-listen', message, cause });
  }
}

/**
 * Where a server listens.
 *
 * @interface
 */
export type ListenOptions = OptionsOf<'host' | 'port' | 'reusePort' | 'fd'>;

/** The IP address, and host and port in the form of a URL; or why it cannot listen. @ignore */
export type Listening = Result<{ readonly host: string; readonly authority: string }, CannotListen>;

/** Why a server cannot listen on an address or a socket. */
export type CannotListen = {
  readonly kind: 'cannot-listen';
  /** The reason, for the operator. */
  readonly message: string;
  /** The error that Node reported. */
  readonly cause: unknown;
};

/** Returns a message that states why the server cannot listen, and what to do. */
function cannotListen(address: string, fd: number | undefined, thrown: unknown): string {
  if (fd !== undefined) return `file descriptor ${fd} is not a listening TCP socket`;
  const { errno, code, message } = thrown as NodeJS.ErrnoException;
  const reason = errno === undefined ? message : getSystemErrorMessage(errno);
  const isLimit = code === 'EMFILE' || code === 'ENFILE';
  const advice = isLimit ? 'raise the limit of open files' : 'choose another host or port';
  return `${address}: ${reason}; ${advice}`;
}

/** Replaces an unspecified address, for URLs: a socket on `::` accepts IPv4, too. */
function reachable(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  return address === '::' ? 'localhost' : address;
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
