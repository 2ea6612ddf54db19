import { isIPv6 } from 'node:net';
import { userInfo } from 'node:os';
import { err, ok, type Result } from 'neverthrow';
import { readParameters, type Parameters } from './url-parameters.ts';

/** A server's address; `host` is a name, an address, or the folder of a Unix socket. */
export type Address = { readonly host: string; readonly port: number };

/** What a URL asks for, completed from libpq's environment variables. */
export type DatabaseUrl = Parameters & {
  readonly addresses: readonly Address[];
  readonly user: string;
  readonly database: string;
  /** Never put where it could be printed. */
  readonly password: string | undefined;
};

type Environment = Readonly<Record<string, string | undefined>>;

const form = 'postgres://user:password@host:5432/database';

const shape = /^postgres(?:ql)?:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/s;

const decode = (text: string): string | undefined => {
  try {
    const decoded = decodeURIComponent(text);
    return decoded.includes('\0') ? undefined : decoded;
  } catch {
    return undefined;
  }
};

const nameOfThisUser = (): string => {
  try {
    return userInfo().username;
  } catch {
    return '';
  }
};

const readPort = (text: string): number | undefined => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
};

const readAddress = (text: string, defaultPort: number | undefined): Address | undefined => {
  // An IPv6 address stands in brackets; a socket's folder has its slashes percent-encoded.
  const found = /^(?:\[([\da-f:.]+(?:%25[\w.-]+)?)\]|([^:[\]\s]*))(?::(.*))?$/is.exec(text);
  const host = found === null ? undefined : decode(found[1] ?? found[2] ?? '');
  const port = found?.[3] === undefined ? defaultPort : readPort(found[3]);
  return host === undefined || port === undefined
    ? undefined
    : { host: host === '' ? 'localhost' : host, port };
};

/** Reads a host of a parameter or a variable, where libpq takes addresses and folders as they are. */
const readHost = (text: string, port: number | undefined): Address | undefined =>
  port !== undefined && (isIPv6(text) || text.startsWith('/'))
    ? { host: text, port }
    : readAddress(text, port);

const readAddresses = (
  written: string,
  parameter: string | undefined,
  env: Environment,
): readonly Address[] | undefined => {
  const port = readPort(env['PGPORT'] ?? '5432');
  const inUrl =
    written === ''
      ? (env['PGHOST'] ?? '').split(',').map((host) => readHost(host, port))
      : written.split(',').map((one) => readAddress(one, port));
  // As in libpq: the parameter stands instead of the host, and a port beside that stays.
  const addresses = parameter?.split(',').map((host) => readHost(host, inUrl[0]?.port)) ?? inUrl;
  return addresses.every((one) => one !== undefined) ? addresses : undefined;
};

/**
 * Reads a `postgres://` URL. Its faults repeat no part of the URL but the names of parameters: where
 * the URL is malformed, any part of it may be a part of the password.
 */
export const readDatabaseUrl = (
  url: string,
  variables: Environment,
): Result<DatabaseUrl, string> => {
  // A variable that is empty is as good as none.
  const env = Object.fromEntries(Object.entries(variables).filter(([, text]) => text !== ''));
  const [whole, authority = '', path = '', query = ''] = shape.exec(url.trim()) ?? [];
  if (whole === undefined) {
    return err(
      `the database URL must have the form ${form}; in user and password, / is written as %2F, ? as %3F, # as %23, @ as %40`,
    );
  }
  if (path.includes('@') || query.includes('@')) {
    return err(
      'the database URL has an @ after its host: percent-encode /, ?, # and @ in the password (/ is %2F, ? is %3F, # is %23, @ is %40)',
    );
  }
  const at = authority.lastIndexOf('@');
  const [userText = '', ...passwordTexts] = authority.slice(0, Math.max(at, 0)).split(':');
  const passwordText = passwordTexts.join(':');
  const [user, password, database] = [userText, passwordText, path].map(decode);
  if (user === undefined || password === undefined || database === undefined) {
    return err('the database URL has a % that is no percent-encoding: write it as %25');
  }
  // Without an @, what looks like a port may be the beginning of a password.
  const hasNoOpenPassword = at !== -1 || !authority.includes(':');
  return readParameters(query, env, hasNoOpenPassword).andThen(({ host, ...parameters }) => {
    const addresses = readAddresses(authority.slice(at + 1), host, env);
    if (addresses === undefined) {
      return err(
        `the hosts in the database URL must be names or addresses, each with a port from 1 to 65535 if it is not 5432, as in ${form}; several are separated by commas`,
      );
    }
    const role = user || (env['PGUSER'] ?? nameOfThisUser());
    return ok({
      ...parameters,
      addresses,
      user: role,
      database: database || (env['PGDATABASE'] ?? role),
      password: password || (env['PGPASSWORD'] ?? undefined),
    });
  });
};

/** An address as an operator writes it. */
export const nameOf = ({ host, port }: Address): string =>
  isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
