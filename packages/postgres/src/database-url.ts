import { isIPv6 } from 'node:net';
import { userInfo } from 'node:os';
import type { ConnectionOptions } from 'node:tls';
import { err, ok, type Result } from 'neverthrow';
import { parse } from 'pg-connection-string';
import { type Parameters, readParameters } from './url-parameters.ts';

/** A server's address; `host` is a name, an address, or the folder of a Unix socket. */
export type Address = { readonly host: string; readonly port: number };

/** What a URL asks for, completed from libpq's environment variables. */
export type DatabaseUrl = {
  readonly addresses: readonly Address[];
  readonly user: string;
  readonly database: string;
  /** Never put where it could be printed. */
  readonly password: string | undefined;
  readonly applicationName: string;
  /** Command-line options for the server process (libpq's `options`). */
  readonly options: string | undefined;
  /** How to encrypt a connection and verify the server; `false` for a connection that is not encrypted. */
  readonly tls: ConnectionOptions | false;
  /** Whether a server without TLS is taken as well. */
  readonly isTlsOptional: boolean;
  /** Whether the login must be bound to the TLS connection (SCRAM-SHA-256-PLUS). */
  readonly requiresChannelBinding: boolean;
  /** How long one server may take to log in; `Infinity` for no limit. */
  readonly connectTimeoutMs: number | undefined;
};

/** Why a URL cannot be used. */
export type UrlFault = {
  readonly kind: 'url-invalid' | 'tls-failed';
  readonly message: string;
  readonly cause?: unknown;
};

type Environment = Readonly<Record<string, string | undefined>>;

const form = 'postgres://user:password@host:5432/database';

const shape = /^postgres(?:ql)?:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/s;

const invalid = (message: string) => err<never, UrlFault>({ kind: 'url-invalid', message });

const nameOfThisUser = (): string => {
  try {
    return userInfo().username;
  } catch {
    return '';
  }
};

/** A host as it stands in a URL: in a parameter or a variable, addresses and folders stand as they are. */
const hostInUrl = (host: string): string => {
  if (host.startsWith('/')) return encodeURIComponent(host);
  return isIPv6(host) ? `[${host}]` : host;
};

const hostsOf = (written: string, parameter: string | undefined, env: Environment): string[] => {
  if (parameter === undefined && written !== '') return written.split(',');
  // As in libpq: the parameter stands instead of the host, and a port beside that stays.
  const port = /:\d+$/.exec(written)?.[0] ?? '';
  const hosts = (parameter ?? env['PGHOST'] ?? '').split(',').map(hostInUrl);
  return hosts.map((host) => (/:\d+$/.test(host) ? host : host + port));
};

/** The part of a URL's parameters that is about TLS, as it is given to the driver's own reader. */
const tlsQuery = ({ sslmode = 'prefer', sslrootcert, sslcert, sslkey }: Parameters): string => {
  const query = new URLSearchParams({ sslmode });
  // Without a file, Node verifies by the certificates that it trusts.
  if (sslrootcert !== undefined && sslrootcert !== 'system') query.set('sslrootcert', sslrootcert);
  if (sslcert !== undefined) query.set('sslcert', sslcert);
  if (sslkey !== undefined) query.set('sslkey', sslkey);
  return query.toString();
};

const faultIn = ({ sslmode, sslrootcert = 'system', ...others }: Parameters) => {
  if (sslmode === 'verify-ca' && sslrootcert === 'system') {
    return 'sslmode=verify-ca in the database URL needs sslrootcert, the file of your own authority; with public ones it protects nothing, use verify-full';
  }
  if (!/^[+-]?\d{1,9}$/.test(others.connect_timeout ?? '0')) {
    return 'connect_timeout in the database URL must be a number of seconds';
  }
  return others.channel_binding === 'require' && sslmode === 'disable'
    ? 'channel_binding=require in the database URL needs TLS: correct it, or sslmode=disable'
    : undefined;
};

const percentFault = 'the database URL has a % that is no percent-encoding: write it as %25';

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

const timeoutOf = (seconds: string | undefined): number | undefined => {
  if (seconds === undefined) return undefined;
  // As in libpq: zero or less is no limit.
  return Number(seconds) > 0 ? Number(seconds) * 1_000 : Infinity;
};

/** Takes a URL apart with the driver's own reader, once for each host. Throws what that throws. */
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
  const user = (first?.user ?? '') || (env['PGUSER'] ?? nameOfThisUser());
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
    connectTimeoutMs: timeoutOf(parameters.connect_timeout),
  };
};

/**
 * Reads a `postgres://` URL, and the certificates that it names. Its faults repeat no part of the URL but
 * the names of parameters: where the URL is malformed, any part of it may be a part of the password.
 */
export const readDatabaseUrl = (
  url: string,
  variables: Environment,
): Result<DatabaseUrl, UrlFault> => {
  // A variable that is empty is as good as none.
  const env = Object.fromEntries(Object.entries(variables).filter(([, text]) => text !== ''));
  const [whole, authority = '', path = '', query = ''] = shape.exec(url.trim()) ?? [];
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
  // The driver's reader would decode a URL with a space twice, and drop other white space.
  const login = authority.slice(0, Math.max(at, 0)).replaceAll(/[ \t\n\r]/g, encodeURIComponent);
  // Without an @, what looks like a port may be the beginning of a password.
  const hasNoOpenPassword = at !== -1 || !authority.includes(':');
  const parameters = readParameters(query, env, hasNoOpenPassword);
  if (parameters.isErr()) return invalid(parameters.error);
  const fault = faultIn(parameters.value);
  if (fault !== undefined) return invalid(fault);
  const hosts = hostsOf(authority.slice(at + 1), parameters.value.host, env);
  try {
    return ok(parseEach({ login, hosts, path }, parameters.value, env));
  } catch (thrown) {
    return parsingFault(thrown);
  }
};

/** An address as an operator writes it. */
export const nameOf = ({ host, port }: Address): string =>
  isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
