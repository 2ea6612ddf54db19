import { isIPv6 } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { err, ok, type Result } from 'neverthrow';
import { parse } from 'pg-connection-string';
import { type Fault, openError, type OpenPostgresError } from './errors.ts';

/**
 * Reads a `postgres://` URL with the driver's parser, once for each of its hosts, and the files
 * that it names. What it does not contain comes from libpq's variables. Errors contain no value of
 * the URL: in a malformed one, any part can belong to the password.
 */
export function readDatabaseUrl(url: string, env: Env): Result<DatabaseUrl, OpenPostgresError> {
  if (typeof url !== 'string')
    throw new TypeError("a URL must be a string, as in 'postgres://localhost/plants'");
  const [whole, authority = '', path = '', query = ''] = urlPattern.exec(url.trim()) ?? [];
  // An @ after the host shows that the password has a character that must be encoded.
  if (whole === undefined || (path + query).includes('@') || wrongPercent.test(authority + path))
    return fail(invalid);
  const given = new URLSearchParams(query.replaceAll('+', '%2B'));
  const parameters = new Map(
    Object.entries(variables).map(([name, of]) => [name, firstOf(given.get(name), env[of])]),
  );
  const wrong =
    findUnsafe([...given], authority.includes('@')) ??
    findUnsafe(Object.entries(env).filter(([name]) => name.startsWith('PG'))) ??
    findWrongValue(parameters);
  if (wrong !== undefined) return fail({ kind: 'url-parameter', detail: wrong });
  try {
    return ok(parseServers(authority, path, parameters, env));
  } catch (cause) {
    const isOfFile = cause instanceof Error && 'syscall' in cause;
    return fail(isOfFile ? { kind: 'tls-failed', detail: cause.message, cause } : invalid);
  }
}

/** Formats an address as host:port. */
export function nameOf({ host, port }: Address): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Address of a server; `host` is a name, an IP address, or the folder of a Unix-domain socket. */
export type Address = { readonly host: string; readonly port: number };

/** Connection parameters from a URL and libpq's environment variables. */
export type DatabaseUrl = Readonly<ReturnType<typeof parseServers>>;

/** Maximum delay of a timer in Node.js, in milliseconds. */
export const maxTimerMs = 2 ** 31 - 1;

type Env = Readonly<Record<string, string | undefined>>;
type Parameters = ReadonlyMap<string, string | undefined>;

const urlPattern = /^postgres(?:ql)?:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/s;
const wrongPercent = /%(?![\da-f]{2})|%00/i;
const invalid: Fault = { kind: 'url-invalid', detail: '' };

function fail(fault: Fault) {
  return err(openError({ user: '', database: '' }, fault));
}

/** The parameters that have an effect, and their variables. */
const variables: Readonly<Record<string, string>> = {
  application_name: 'PGAPPNAME',
  channel_binding: 'PGCHANNELBINDING',
  connect_timeout: 'PGCONNECT_TIMEOUT',
  host: '',
  options: 'PGOPTIONS',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  target_session_attrs: 'PGTARGETSESSIONATTRS',
};
const known = [...Object.entries(variables).flat(), 'PGPORT', 'PGUSER'];

/** What names another server or table, or a check that is not done. The rest has no effect. */
const unsafe =
  /^((dbname|hostaddr|port|schema|search_path|service|user)$|channel|gsse|require|ssl(?!sni|co))/i;
const withoutEffect =
  /^(gssencmode=(disable|prefer)|sslnegotiation=postgres|ssl_?min\w+=TLSv1(\.[12])?)$/i;

/** Finds a parameter or a variable without which a connection would be less safe, or elsewhere. */
function findUnsafe(
  named: readonly (readonly [string, string | undefined])[],
  mayShow = true,
): string | undefined {
  const found = named.find(([name, value = '']) => {
    const parameter = name.replace(/^PG/, '');
    const isUnsafe = unsafe.test(parameter) && !withoutEffect.test(`${parameter}=${value}`);
    return isUnsafe && value !== '' && !known.includes(name);
  });
  // Without a login before it, a parameter can belong to a password.
  return found && `${mayShow ? found[0] : 'a parameter'} is not supported; remove it`;
}

const permitted = new Map([
  ['channel_binding', ['disable', 'prefer', 'require']],
  ['sslmode', ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']],
  // All three select the server that accepts writes.
  ['target_session_attrs', ['any', 'primary', 'read-write']],
]);

function findWrongValue(parameters: Parameters): string | undefined {
  for (const [name, values] of permitted) {
    const value = parameters.get(name);
    if (value !== undefined && !values.includes(value))
      return `${name} (${variables[name]}) must be one of ${values.join(', ')}`;
  }
  if (!/^[+-]?\d{1,9}$/.test(parameters.get('connect_timeout') ?? '0'))
    return 'connect_timeout (PGCONNECT_TIMEOUT) must be a number of seconds';
  const authority = parameters.get('sslrootcert') ?? 'system';
  if (parameters.get('sslmode') === 'verify-ca' && authority === 'system')
    return 'sslmode=verify-ca needs sslrootcert, the file of your own CA';
  return undefined;
}

/** Parses the URL of each server. Throws the exceptions of the driver's parser. */
function parseServers(authority: string, path: string, parameters: Parameters, env: Env) {
  const at = authority.lastIndexOf('@');
  // The driver's parser would decode a URL with a space twice, and remove other white space.
  const login = authority.slice(0, Math.max(at, 0)).replaceAll(/[ \t\n\r]/g, encodeURIComponent);
  const query = queryOf(parameters);
  const named = authority.slice(at + 1);
  // As in libpq, the parameter wins. The URL may have a port for it.
  const wanted = hostsInUrl(parameters.get('host'), /:\d*$/.exec(named)?.[0]);
  const hosts = firstOf(wanted, named, hostsInUrl(env['PGHOST'])) ?? 'localhost';
  const configs = hosts.split(',').map((host) => {
    const server = host.replace(/^(?=:|$)/, 'localhost');
    return parse(`postgres://${login}@${server}/${path}?${query}`, { useLibpqCompat: true });
  });
  const [first] = configs;
  const requiresChannelBinding = parameters.get('channel_binding') === 'require';
  // As the driver does.
  const user = firstOf(first?.user, env['PGUSER'], env['USER']) ?? '';
  return {
    addresses: configs.map(({ host, port }) => ({ host: host ?? '', port: portOf(port, env) })),
    user,
    database: firstOf(first?.database, env['PGDATABASE']) ?? user,
    /** Must not appear in errors or logs. */
    password: firstOf(first?.password, env['PGPASSWORD']),
    applicationName: parameters.get('application_name') ?? 'plantstore',
    options: parameters.get('options'),
    /** How to encrypt a connection and verify the server; `false` for one that is not encrypted. */
    tls: (first?.ssl ?? false) as ConnectionOptions | false,
    /** Whether an unencrypted connection is used when the server refuses an encrypted one. */
    isTlsOptional: !requiresChannelBinding && (parameters.get('sslmode') ?? 'prefer') === 'prefer',
    /** Whether only a login with SCRAM-SHA-256-PLUS is permitted. */
    requiresChannelBinding,
    /** Timeout of a login in milliseconds, if there is one in the URL. */
    connectTimeoutMs: timeoutOf(parameters.get('connect_timeout')),
  };
}

/** Converts the hosts of a parameter or variable to their form in a URL. */
function hostsInUrl(hosts = '', port = ''): string {
  const one = (host: string) => (isIPv6(host) ? `[${host}]` : encodeURIComponent(host));
  return hosts === ''
    ? ''
    : hosts
        .split(',')
        .map((host) => one(host) + port)
        .join();
}

/** As in libpq, an empty value is none. */
function firstOf(...values: readonly (string | null | undefined)[]): string | undefined {
  return values.find((value) => value !== '' && typeof value === 'string') ?? undefined;
}

/** Returns what the driver's parser reads of TLS, as libpq defines it. */
function queryOf(parameters: Parameters): string {
  const query = new URLSearchParams({ sslmode: 'prefer' });
  for (const name of ['sslmode', 'sslcert', 'sslkey', 'sslrootcert']) {
    const value = parameters.get(name) ?? 'system';
    // Without a file, Node.js uses its CA certificates.
    if (value !== 'system') query.set(name, value);
  }
  return query.toString();
}

function portOf(ofUrl: string | null | undefined, env: Env): number {
  const port = Number(firstOf(ofUrl, env['PGPORT']) ?? '5432');
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new Error('no port');
}

/** As in libpq: zero or less is no limit. */
function timeoutOf(seconds: string | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  return Number(seconds) > 0 ? Number(seconds) * 1_000 : maxTimerMs;
}
