import { isIPv6 } from 'node:net';
import { userInfo } from 'node:os';
import type { ConnectionOptions } from 'node:tls';
import { err, ok, type Result } from 'neverthrow';
import { parse } from 'pg-connection-string';
import { type Parameters, readParameters } from './url-parameters.ts';

/** Why a URL cannot be used. */
type UrlFault = {
  readonly kind: 'url-invalid' | 'tls-failed';
  readonly message: string;
  readonly cause?: unknown;
};

/** Address of a server; `host` is a name, an IP address, or the folder of a Unix-domain socket. */
export type Address = { readonly host: string; readonly port: number };

/** Connection parameters from a URL and libpq's environment variables. */
export type DatabaseUrl = {
  readonly addresses: readonly Address[];
  readonly user: string;
  readonly database: string;
  /** Must not appear in errors or logs. */
  readonly password: string | undefined;
  readonly applicationName: string;
  /** Command-line options for the server process (libpq's `options`). */
  readonly options: string | undefined;
  /** How to encrypt a connection and verify the server; `false` for a connection that is not encrypted. */
  readonly tls: ConnectionOptions | false;
  /** Whether an unencrypted connection is used when the server does not support TLS. */
  readonly isTlsOptional: boolean;
  /** Whether the login must be bound to the TLS connection (SCRAM-SHA-256-PLUS). */
  readonly requiresChannelBinding: boolean;
  /** Timeout of connecting and logging in to one server, in milliseconds. */
  readonly connectTimeoutMs: number;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Maximum delay of a timer in Node.js, in milliseconds. */
export const maxTimerMs = 2 ** 31 - 1;

const form = 'postgres://user:password@host:5432/database';

const urlPattern = /^postgres(?:ql)?:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/s;

const invalid = (message: string) => err<never, UrlFault>({ kind: 'url-invalid', message });

const currentUserName = (): string => {
  try {
    return userInfo().username;
  } catch {
    return '';
  }
};

/** Converts a host from a parameter or variable to its form in a URL. */
const hostInUrl = (host: string): string => {
  if (host.startsWith('/')) return encodeURIComponent(host);
  return isIPv6(host) ? `[${host}]` : host;
};

const hostsOf = (hostList: string, parameter: string | undefined, env: Environment): string[] => {
  if (parameter === undefined && hostList !== '') return hostList.split(',');
  // As in libpq, the parameter replaces the host of the URL, but not its port.
  const port = /:\d+$/.exec(hostList)?.[0] ?? '';
  const hosts = (parameter ?? env['PGHOST'] ?? '').split(',').map(hostInUrl);
  return hosts.map((host) => (/:\d+$/.test(host) ? host : host + port));
};

/** Returns the TLS parameters as a query for pg-connection-string, which ignores empty ones. */
const tlsQuery = ({
  sslmode = 'prefer',
  sslrootcert = 'system',
  sslcert = '',
  sslkey = '',
}: Parameters): string => {
  // Without a file, Node.js uses its bundled CA certificates.
  const ca = sslrootcert === 'system' ? '' : sslrootcert;
  return new URLSearchParams({ sslmode, sslrootcert: ca, sslcert, sslkey }).toString();
};

const findInvalidParameter = ({ sslmode, sslrootcert = 'system', ...others }: Parameters) => {
  if (sslmode === 'verify-ca' && sslrootcert === 'system') {
    return 'sslmode=verify-ca in the database URL needs sslrootcert, the file of your own CA; with public CAs it does not identify the server, so use verify-full';
  }
  if (!/^[+-]?\d{1,9}$/.test(others.connect_timeout ?? '0')) {
    return 'connect_timeout in the database URL must be a number of seconds';
  }
  return others.channel_binding === 'require' && sslmode === 'disable'
    ? 'channel_binding=require in the database URL needs TLS; remove it, or remove sslmode=disable'
    : undefined;
};

const percentFault = 'the database URL has a % that is not a percent-encoding; write it as %25';

const parsingFault = (thrown: unknown): Result<never, UrlFault> => {
  if (thrown instanceof URIError) return invalid(percentFault);
  if (thrown instanceof Error && 'syscall' in thrown) {
    const message = `a file that sslrootcert, sslcert or sslkey in the database URL names cannot be read: ${thrown.message}`;
    return err({ kind: 'tls-failed', message, cause: thrown });
  }
  return invalid(
    `the hosts in the database URL must be names or addresses, each with a port from 1 to 65535 if it is not 5432, as in ${form}; several are separated by commas`,
  );
};

const portOf = (text: string): number => {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new RangeError('no port');
};

// As in libpq: zero or less is no limit.
const timeoutOf = (seconds: number): number =>
  seconds > 0 ? Math.min(seconds * 1_000, maxTimerMs) : maxTimerMs;

/** Parses a URL for each host with pg-connection-string. Throws its exceptions. */
const parseEach = (
  { login, hosts, path }: { login: string; hosts: readonly string[]; path: string },
  parameters: Parameters,
  env: Environment,
): DatabaseUrl => {
  const query = tlsQuery(parameters);
  const configs = hosts.map((host) =>
    parse(`postgres://${login}@${host.replace(/^(?=:|$)/, 'localhost')}/?${query}`, {
      useLibpqCompat: true,
    }),
  );
  const [first] = configs;
  const user = (first?.user ?? '') || (env['PGUSER'] ?? currentUserName());
  return {
    addresses: configs.map(({ host, port }) => ({
      host: host ?? '',
      port: portOf((port ?? '') || (env['PGPORT'] ?? '5432')),
    })),
    user,
    database: decodeURIComponent(path) || (env['PGDATABASE'] ?? user),
    password: (first?.password ?? '') || env['PGPASSWORD'],
    applicationName:
      parameters.application_name ?? parameters.fallback_application_name ?? 'plantstore',
    options: parameters.options,
    tls: (first?.ssl ?? false) as ConnectionOptions | false,
    isTlsOptional: (parameters.sslmode ?? 'prefer') === 'prefer',
    requiresChannelBinding: parameters.channel_binding === 'require',
    connectTimeoutMs: timeoutOf(Number(parameters.connect_timeout ?? 2)),
  };
};

/**
 * Reads a `postgres://` URL and its certificate files. Errors contain no part of the URL except parameter
 * names: in a malformed URL, any part can belong to the password.
 */
export const readDatabaseUrl = (
  url: string,
  variables: Environment,
): Result<DatabaseUrl, UrlFault> => {
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
  const parameters = readParameters(query, env, isPasswordComplete);
  if (parameters.isErr()) return invalid(parameters.error);
  const fault = findInvalidParameter(parameters.value);
  if (fault !== undefined) return invalid(fault);
  const hosts = hostsOf(authority.slice(at + 1), parameters.value.host, env);
  try {
    return ok(parseEach({ login, hosts, path }, parameters.value, env));
  } catch (thrown) {
    return parsingFault(thrown);
  }
};

/** Formats an address as host:port. */
export const nameOf = ({ host, port }: Address): string =>
  isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
