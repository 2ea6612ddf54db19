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
  const read = (name: string, of: string) => firstOf(given.get(name), env[of], defaults[of]);
  const parameters = new Map(Object.entries(variables).map(([name, of]) => [name, read(name, of)]));
  const ignored = findIgnored(parameters, given, env);
  if (ignored !== undefined) {
    // Without a login before it, the name of a parameter can belong to a password.
    const isSafe = authority.includes('@') || known.includes(ignored) || !given.has(ignored);
    const named = isSafe ? ignored : 'a parameter';
    return fail({ kind: 'url-parameter', detail: `${named} or its value is not supported` });
  }
  try {
    return ok(parseServers(authority, path, parameters, env));
  } catch (cause) {
    // Of the parser of URLs.
    if (!(cause instanceof Error) || cause.name !== 'Error') return fail(invalid);
    const kind = 'syscall' in cause ? 'tls-failed' : 'url-parameter';
    return fail({ kind, detail: cause.message, cause });
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
const defaults: Env = { PGAPPNAME: 'plantstore', PGSSLMODE: 'prefer' };
const known = [...Object.entries(variables).flat(), 'PGPORT', 'PGUSER'];

/** The names of what could not be ignored: another server or table, a timeout, a check. */
const important = patternOf(
  'dbname|host|hostaddr|options|port|schema|search_path|service|user',
  '(channel|connect_t|gsse|require|ssl(?!sni|co)|target).*',
);
const supported = patternOf(
  'channel_binding=(disable|prefer|require)',
  'connect_timeout=[1-9][0-9]{0,8}',
  'gssencmode=(disable|prefer)',
  '(host|options|ssl(cert|key|rootcert))=.*',
  'sslmode=(disable|prefer|require|verify-ca|verify-full)',
  // All three select the server that accepts writes.
  'target_session_attrs=(any|primary|read-write)',
);

function patternOf(...patterns: readonly string[]): RegExp {
  return new RegExp(`^(${patterns.join('|')})$`, 's');
}

/** Finds an important parameter or variable that would be ignored. */
function findIgnored(parameters: Parameters, given: URLSearchParams, env: Env): string | undefined {
  const isOther = (name: string) => name.startsWith('PG') && !known.includes(name);
  const others = Object.entries(env).filter(([name]) => isOther(name));
  const found = [...parameters, ...given, ...others].find(([name, value = '']) => {
    const parameter = name.replace(/^PG/i, '').toLowerCase();
    // The name of a variable in the URL, or one of two values, would have no effect.
    const isRead = given.getAll(name).length <= Number(name === parameter);
    const isImportant = value !== '' && important.test(parameter);
    return isImportant && !(isRead && supported.test(`${parameter}=${value}`));
  });
  return found?.[0];
}

/** Parses the URL of each server. Throws the exceptions of the driver's parser. */
function parseServers(authority: string, path: string, parameters: Parameters, env: Env) {
  const at = authority.lastIndexOf('@');
  // The driver's parser would decode a URL with a space twice, and remove other white space.
  const login = authority.slice(0, Math.max(at, 0)).replaceAll(/[ \t\n\r]/g, encodeURIComponent);
  const named = authority.slice(at + 1);
  const query = new URLSearchParams();
  for (const [name, value = ''] of parameters) query.set(name, value);
  // As in libpq, the parameter wins. The URL may have a port for its hosts.
  query.set('host', firstOf(parameters.get('host'), named === '' ? env['PGHOST'] : '') ?? '');
  const usesSystem = parameters.get('sslrootcert') === 'system';
  if (usesSystem && parameters.get('sslmode') !== 'verify-full')
    throw new Error('sslrootcert=system requires sslmode=verify-full');
  // Without a file, Node.js uses its CA certificates.
  if (usesSystem) query.delete('sslrootcert');
  const configs = named.split(',').map((host) => {
    const server = host.replace(/^(?=:|$)/, 'localhost');
    const url = `postgres://${login}@${server}/${path}?${query.toString()}`;
    return parse(url, { useLibpqCompat: true });
  });
  const [first] = configs;
  const requiresChannelBinding = parameters.get('channel_binding') === 'require';
  // As the driver does.
  const user = firstOf(first?.user, env['PGUSER'], env['USER']) ?? '';
  return {
    addresses: configs.flatMap(({ host, port }) =>
      (host ?? '').split(',').map((one) => ({ host: one, port: portOf(port, env) })),
    ),
    user,
    database: firstOf(first?.database, env['PGDATABASE']) ?? user,
    /** Must not appear in errors or logs. */
    password: firstOf(first?.password, env['PGPASSWORD']),
    applicationName: parameters.get('application_name'),
    options: parameters.get('options'),
    /** How to encrypt a connection and verify the server; `false` for one that is not encrypted. */
    tls: (first?.ssl ?? false) as ConnectionOptions | false,
    /** Whether an unencrypted connection is used when the server refuses an encrypted one. */
    isTlsOptional: !requiresChannelBinding && parameters.get('sslmode') === 'prefer',
    /** Whether only a login with SCRAM-SHA-256-PLUS is permitted. */
    requiresChannelBinding,
    /** Timeout of a login in milliseconds, if there is one in the URL. */
    connectTimeoutMs: 1_000 * Number(parameters.get('connect_timeout') ?? 0) || undefined,
  };
}

function portOf(ofUrl: string | null | undefined, env: Env): number {
  return Number(firstOf(ofUrl, env['PGPORT']) ?? '5432');
}

/** As in libpq, an empty value is none. */
function firstOf(...values: readonly (string | null | undefined)[]): string | undefined {
  return values.find((value) => value !== '' && typeof value === 'string') ?? undefined;
}
