import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

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

/** The address to listen on. */
export type ListenAddress = {
  readonly host: string;
  readonly port: number;
  /** Whether other processes may listen on the same port. */
  readonly reusePort: boolean;
};

/** Returns a message that states why the server cannot listen on an address, and what to do. */
export const cannotListen = ({ host, port, reusePort }: ListenAddress, thrown: unknown): string => {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  const known = (reusePort ? sharingFaults.get(code) : undefined) ?? listenFaults.get(code);
  return `${inUrl(host)}:${port} ${known ?? `cannot be listened on (${code})`}`;
};

/** The result of listening. */
export type Listening =
  | {
      readonly kind: 'listening';
      /** Host and port in the form of a URL. */
      readonly authority: string;
    }
  | { readonly kind: 'cannot-listen'; readonly message: string; readonly cause: unknown };

/** Starts to listen on an address. */
export const listenOn = async (server: Server, address: ListenAddress): Promise<Listening> => {
  try {
    server.listen({ ...address });
    await once(server, 'listening');
  } catch (cause) {
    return { kind: 'cannot-listen', message: cannotListen(address, cause), cause };
  }
  const { address: host, port } = server.address() as AddressInfo;
  return { kind: 'listening', authority: `${inUrl(reachable(host))}:${port}` };
};
