import { once } from 'node:events';
import type { Server } from 'node:http';

const listenFaults = new Map([
  ['EADDRINUSE', 'is taken by another process; choose another port'],
  ['EACCES', 'needs more permissions than this user has; choose a port from 1024'],
  ['EADDRNOTAVAIL', 'is not an address of this machine; choose another host'],
  ['ENOTFOUND', 'has an unknown host name; choose another host'],
]);

const cannotShare =
  'cannot be shared on this system (Linux and FreeBSD can): run one process, or several on ports of their own behind a proxy';

/** With `reusePort`. */
const sharingFaults = new Map([
  [
    'EADDRINUSE',
    'is taken by a process that does not share it: all of them need this setting, and the same user',
  ],
  ['ENOTSUP', cannotShare],
  ['ENOPROTOOPT', cannotShare],
  ['EINVAL', cannotShare],
]);

const inUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** Replaces an unspecified address with the loopback address, for URLs. */
const reachable = (address: string): string =>
  ({ '0.0.0.0': '127.0.0.1', '::': '::1' })[address] ?? address;

export type ListenAddress = {
  readonly host: string;
  readonly port: number;
  /** Whether other processes may listen on the same port. */
  readonly reusePort: boolean;
};

/** An open socket, such as one that systemd hands over. */
export type ListenSocket = { readonly fd: number };

/** Returns a message that states why the server cannot listen, and what to do. */
export const cannotListen = (target: ListenAddress | ListenSocket, thrown: unknown): string => {
  if ('fd' in target) return `file descriptor ${target.fd} is not a listening TCP socket`;
  const { host, port, reusePort } = target;
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  const known = (reusePort ? sharingFaults.get(code) : undefined) ?? listenFaults.get(code);
  return `${inUrl(host)}:${port} ${known ?? `cannot be listened on (${code})`}`;
};

export type Listening =
  | {
      readonly kind: 'listening';
      /** The IP address, such as `0.0.0.0`. */
      readonly host: string;
      /** Host and port in the form of a URL. */
      readonly authority: string;
    }
  | { readonly kind: 'cannot-listen'; readonly message: string; readonly cause: unknown };

/** Starts to listen on an address, or on a socket that is open already. */
export const listenOn = async (
  server: Server,
  target: ListenAddress | ListenSocket,
): Promise<Listening> => {
  try {
    server.listen({ ...target });
    await once(server, 'listening');
    const address = server.address();
    if (address !== null && typeof address === 'object') {
      const { address: host, port } = address;
      return { kind: 'listening', host, authority: `${inUrl(reachable(host))}:${port}` };
    }
    // Before the event loop accepts a connection.
    server.close();
    throw new Error('the socket has no IP address');
  } catch (cause) {
    return { kind: 'cannot-listen', message: cannotListen(target, cause), cause };
  }
};
