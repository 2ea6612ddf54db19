const listenFaults = new Map([
  ['EADDRINUSE', 'is taken by another process; choose another port'],
  ['EACCES', 'may not be listened on by this user; choose a port from 1024'],
  ['EADDRNOTAVAIL', 'is no address of this machine; choose another host'],
  ['ENOTFOUND', 'is no known host name; choose another host'],
]);

/** Where processes were to share the port. */
const sharingFaults = new Map([
  [
    'EADDRINUSE',
    'is taken by a process that does not share it: all of them need this setting, and the same user',
  ],
  ...['ENOTSUP', 'ENOPROTOOPT', 'EINVAL'].map(
    (code) =>
      [
        code,
        'cannot be shared on this system (Linux and FreeBSD can): run one process, or several on ports of their own behind a proxy',
      ] as const,
  ),
]);

/** A host as it stands in a URL. */
export const inUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** The address under which this machine reaches what listens on every address. */
export const reachable = (address: string): string =>
  ({ '0.0.0.0': '127.0.0.1', '::': '::1' })[address] ?? address;

/** Why it cannot be listened there, and what to do. */
export const cannotListen = (
  host: string,
  port: number,
  thrown: unknown,
  reusePort = false,
): string => {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  const known = (reusePort ? sharingFaults.get(code) : undefined) ?? listenFaults.get(code);
  return `${inUrl(host)}:${port} ${known ?? `cannot be listened on (${code})`}`;
};
