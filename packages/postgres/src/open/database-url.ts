import { isIPv6 } from 'node:net';
import { userInfo } from 'node:os';
import type { ConnectionOptions } from 'node:tls';
import { err, ok, type Result } from 'neverthrow';
import { parse } from 'pg-connection-string';
import { type Parameters, readParameters, type ShowParameter } from './url-parameters.ts';

/**
 * Reads a `postgres://` URL and its certificate files. Errors contain no part of the URL except parameter
 * names: in a malformed URL, any part can belong to the password.
 */
export function readDatabaseUrl(
  url: string,
  variables: Environment,
): Result<DatabaseUrl, UrlFault> {
  // As in libpq, empty variables are ignored.
  const env = Object.fromEntries(Object.entries(variables).filter(([, text]) => text !== ''));
  const [whole, authority = '', path = '', query = ''] = urlPattern.exec(url.trim()) ?? [];
  if (whole === undefined) {
    return invalid(
      `the database URL must have the form ${form}; in user and password, / is written as %2F, ? as %3F, # as %23, @ as %40`,
    );
  }
  if (path.includes('@') || query.includes('@')) {
    return invalid(
      'the database URL has an @ after its host: percent-encode /, ?, # and @ in the password (/ is %2F, ? is %3F, # is %23, @ is %40)',
    );
  }
  if (/%(?![\da-f]{2})|%00/i.test(authority + path)) return invalid(percentFault);
  const at = authority.lastIndexOf('@');
  // pg-connection-string would decode a URL that contains a space twice, and remove other white space.
  const login = authority.slice(0, Math.max(at, 0)).replaceAll(/[ \t\n\r]/g, encodeURIComponent);
  // Without an @, the text after the colon can be a port or a part of a password.
  const isPasswordComplete = at !== -1 || !authority.includes(':');
  const read = readParameters(query, env, isPasswordComplete);
  if (read.isErr()) return invalid(read.error);
  const { parameters, show } = read.value;
  const fault = findInvalidParameter(parameters, show);
  if (fault !== undefined) return invalid(fault);
  const hostList = authority.slice(at + 1);
  const isHostFromVariable = hostList === '' && parameters.host === undefined && 'PGHOST' in env;
  try {
    const hosts = hostsOf(hostList, parameters.host, env);
    return ok(parseEach({ login, hosts, path }, parameters, env));
  } catch (thrown) {
    if (thrown instanceof URIError) return invalid(percentFault);
    if (thrown instanceof Error && 'syscall' in thrown) {
      const files = fileParameters.filter((name) => parameters[name] !== undefined);
      const message = `the file that ${files.map((name) => show(name)).join(' or ')} names cannot be read: ${thrown.message}`;
      return err({ kind: 'tls-failed', message, cause: thrown });
    }
    if (thrown instanceof RangeError) return invalid('PGPORT must be a port from 1 to 65535');
    const source = isHostFromVariable ? 'PGHOST' : 'the hosts in the database URL';
    return invalid(`${source} ${hostsFault}`);
  }
}

/** Formats an address as host:port. */
export function nameOf({ host, port }: Address): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Why a URL cannot be used. */
type UrlFault = { kind: 'url-invalid' | 'tls-failed'; message: string; cause?: unknown };

/** Address of a server; `host` is a name, an IP address, or the folder of a Unix-domain socket. */
export type Address = { readonly host: string; readonly port: number };

/** Connection parameters from a URL and libpq's environment variables. */
export type DatabaseUrl = Readonly<ReturnType<typeof parseEach>>;

type Environment = Readonly<Record<string, string | undefined>>;
/** Maximum delay of a timer in Node.js, in milliseconds. */
export const maxTimerMs = 2 ** 31 - 1;
const form = 'postgres://user:password@host:5432/database';
const urlPattern = /^postgres(?:ql)?:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/s;
const invalid = (message: string) => err<never, UrlFault>({ kind: 'url-invalid', message });

function currentUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return '';
  }
}

/** Converts a host from a parameter or variable to its form in a URL. */
function hostInUrl(host: string): string {
  if (host.startsWith('/')) return encodeURIComponent(host);
  return isIPv6(host) ? `[${host}]` : host;
}

function hostsOf(hostList: string, parameter: string | undefined, env: Environment): string[] {
  if (parameter === undefined && hostList !== '') return hostList.split(',');
  // As in libpq, the parameter replaces the host of the URL, but not its port.
  const port = /:\d+$/.exec(hostList)?.[0] ?? '';
  const hosts = (parameter ?? env['PGHOST'] ?? '').split(',').map(hostInUrl);
  return hosts.map((host) => (/:\d+$/.test(host) ? host : host + port));
}

/** Returns the TLS parameters as a query for pg-connection-string, which ignores empty ones. */
function tlsQuery(parameters: Parameters): string {
  const { sslmode = 'prefer', sslrootcert = 'system', sslcert = '', sslkey = '' } = parameters;
  // Without a file, Node.js uses its bundled CA certificates.
  const ca = sslrootcert === 'system' ? '' : sslrootcert;
  return new URLSearchParams({ sslmode, sslrootcert: ca, sslcert, sslkey }).toString();
}

const fileParameters = ['sslrootcert', 'sslcert', 'sslkey'] as const;

function findInvalidParameter(parameters: Parameters, show: ShowParameter): string | undefined {
  const { sslmode, sslrootcert = 'system', channel_binding } = parameters;
  if (sslmode === 'verify-ca' && sslrootcert === 'system') {
    return `${show('sslmode', sslmode)} needs sslrootcert, the file of your own CA; with public CAs it does not identify the server, so use verify-full`;
  }
  for (const name of ['connect_timeout', 'keepalives_idle'] as const) {
    if (!/^[+-]?\d{1,9}$/.test(parameters[name] ?? '0'))
      return `${show(name)} must be a number of seconds`;
  }
  return channel_binding === 'require' && sslmode === 'disable'
    ? `${show('channel_binding', channel_binding)} needs TLS; remove it, or remove ${show('sslmode', sslmode)}`
    : undefined;
}

const hostsFault = `must be names or addresses, each with a port from 1 to 65535 if it is not 5432, as in ${form}; several are separated by commas`;
const percentFault = 'the database URL has a % that is not a percent-encoding; write it as %25';

/** Throws a RangeError if the port is from the variable. */
function portOf(ofUrl: string, env: Environment): number {
  const port = Number(ofUrl || (env['PGPORT'] ?? '5432'));
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw ofUrl === '' ? new RangeError('PGPORT') : new Error('no port');
}

// As in libpq: zero or less is no limit.
function timeoutOf(seconds: number): number {
  return seconds > 0 ? Math.min(seconds * 1_000, maxTimerMs) : maxTimerMs;
}

/** Parses a URL for each host with pg-connection-string. Throws its exceptions. */
function parseEach(
  { login, hosts, path }: { login: string; hosts: readonly string[]; path: string },
  parameters: Parameters,
  env: Environment,
) {
  const query = tlsQuery(parameters);
  const configs = hosts.map((host) => {
    const url = `postgres://${login}@${host.replace(/^(?=:|$)/, 'localhost')}/?${query}`;
    return parse(url, { useLibpqCompat: true });
  });
  const [first] = configs;
  const user = (first?.user ?? '') || (env['PGUSER'] ?? currentUserName());
  const idleMs = Math.max(Number(parameters.keepalives_idle ?? 60), 0) * 1_000;
  return {
    addresses: configs.map(({ host, port }): Address => ({
      host: host ?? '',
      port: portOf(port ?? '', env),
    })),
    user,
    database: decodeURIComponent(path) || (env['PGDATABASE'] ?? user),
    /** Must not appear in errors or logs. */
    password: (first?.password ?? '') || env['PGPASSWORD'],
    /** Where the password is from, for the operator. */
    passwordSource: (first?.password ?? '') ? 'the database URL' : 'PGPASSWORD',
    applicationName:
      parameters.application_name ?? parameters.fallback_application_name ?? 'plantstore',
    options: parameters.options,
    /** How to encrypt a connection and verify the server; `false` for a connection that is not encrypted. */
    tls: (first?.ssl ?? false) as ConnectionOptions | false,
    /** Whether an unencrypted connection is used when the server does not support TLS. */
    isTlsOptional: (parameters.sslmode ?? 'prefer') === 'prefer',
    requiresChannelBinding: parameters.channel_binding === 'require',
    connectTimeoutMs: timeoutOf(Number(parameters.connect_timeout ?? 2)),
    /** Timeout of the first login, in milliseconds: a server that resumes from sleep accepts connections before. */
    loginTimeoutMs: timeoutOf(Number(parameters.connect_timeout ?? 10)),
    /** Idle time before the first TCP keepalive, in milliseconds; 0 for that of the system, `undefined` for none. */
    keepAliveIdleMs: parameters.keepalives === '0' ? undefined : idleMs,
  };
}
