import { once } from 'node:events';
import type { Server } from 'node:http';
import { networkInterfaces } from 'node:os';
import { err, ok, type Result } from 'neverthrow';
import { optionRules, type OptionsOf } from '../http/options.ts';

/** Listens on an address, or on an open socket; on `0.0.0.0` where `::` cannot be bound. */
export async function listenOn(server: Server, options: ListenOptions): Promise<Listening> {
  const {
    host = optionRules.host.default,
    port = optionRules.port.default,
    reusePort = optionRules.reusePort.default,
    fd,
  } = options;
  const target = { host, port, reusePort, fd };
  try {
    // Without a host, Node.js listens on `::`, or on `0.0.0.0` if that fails.
    server.listen({ ...target, host: host === '::' ? undefined : host });
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
    return err({ kind: 'cannot-listen', message: cannotListen(target, cause), cause });
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

type ListenTarget = Required<Omit<ListenOptions, 'fd'>> & { readonly fd?: number | undefined };

/** Returns a message that states why the server cannot listen, and what to do. */
function cannotListen({ host, port, fd }: ListenTarget, thrown: unknown): string {
  if (fd !== undefined) return `file descriptor ${fd} is not a listening TCP socket`;
  const { code = '', message } = thrown as NodeJS.ErrnoException;
  return `${inUrl(host)}:${port} ${listenFaults.get(code) ?? `cannot be listened on: ${message}`}`;
}

const listenFaults = new Map([
  ['EADDRINUSE', 'is taken by another process; choose another port'],
  ['EACCES', 'needs more permissions than this user has; choose a port from 1024'],
  ['EADDRNOTAVAIL', 'is not an address of this machine; choose another host'],
  ['ENOTFOUND', 'has an unknown host name; choose another host'],
]);

/** Replaces an unspecified address with a loopback address that the machine has, for URLs. */
function reachable(address: string): string {
  if (address !== '0.0.0.0' && address !== '::') return address;
  return address === '::' && hasLoopback6() ? '::1' : '127.0.0.1';
}

function hasLoopback6(): boolean {
  try {
    const all = Object.values(networkInterfaces()).flat();
    return all.some((one) => one?.address === '::1');
  } catch {
    // A filter of system calls forbids to list them. A socket on `::` accepts IPv4, too.
    return false;
  }
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
