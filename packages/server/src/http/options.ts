import type { PlantRepository } from '@plantstore/core';
import { isProxy } from './client-address.ts';
import type { Logger } from './logger.ts';
import { isAuthorityValid, normalizeBasePath } from './request-head.ts';

/** The rule of an option. */
export type OptionRule<Value = unknown> = {
  /** The value of an option that is left out; `undefined` for none. */
  readonly default: Value;
  /**
   * Returns what a wrong value has to be, to follow the name of the option: `must be a whole number
   * from 1 to 9`; `undefined` for a valid one.
   */
  readonly faultOf: (value: unknown) => string | undefined;
};

/** The longest timeout: a timer of Node waits for at most 24 days. */
const dayMs = 86_400_000;

/** The limits of a server. Times are in milliseconds, sizes in bytes. */
const limitRules = {
  /** Maximum size of a body, in bytes. Default: 1048576 (1 MiB). */
  maxBodyBytes: wholeNumber(1_048_576, 1, 268_435_456),
  /**
   * Maximum number of authenticated requests in flight; one more gets 503 at once. It bounds the
   * memory for bodies to this number times `maxBodyBytes`. Default: 1024.
   */
  maxInFlight: wholeNumber(1_024, 1, 1_000_000),
  /** Maximum number of open connections; one more is closed at once. Default: 10000. */
  maxConnections: wholeNumber(10_000, 1, 1_000_000),
  /**
   * Timeout for the head of a request to arrive, and for a TLS handshake, in milliseconds. Default:
   * 15000 (15 seconds), or `requestTimeoutMs` if that is less.
   */
  headersTimeoutMs: wholeNumber(15_000, 1, dayMs),
  /** Timeout for a complete request to arrive, in milliseconds. Default: 60000 (1 minute). */
  requestTimeoutMs: wholeNumber(60_000, 1, dayMs),
  /**
   * Timeout for the next request on a connection, in milliseconds. Default: 75000 (75 seconds),
   * longer than the idle timeout of common load balancers, so that the load balancer closes the
   * connection.
   */
  keepAliveTimeoutMs: wholeNumber(75_000, 1, dayMs),
  /**
   * Timeout for `authenticate`, and then for the repository, in milliseconds; after it, the
   * response is 503. Default: 15000 (15 seconds), less than the deadline of `close()`.
   */
  handlerTimeoutMs: wholeNumber(15_000, 1, dayMs),
};

/** The options of every host of the service. */
export const serviceRules = {
  /** Stores the plants. */
  repository: optional<PlantRepository>('must have create', hasFunctions('create')),
  /** Decides whether a bearer token may create plants; there is no default. */
  authenticate: optional<Authenticate>(
    'must be a function',
    (value) => typeof value === 'function',
  ),
  /** The path in front of `/plants`, with or without a trailing slash. Default: ''. */
  basePath: rule(
    '',
    'must be a path that begins with a slash, without empty or dot segments, ' +
      'backslashes, braces, quotes or a query',
    (value) => typeof value === 'string' && normalizeBasePath(value) !== undefined,
  ),
  /**
   * Origins whose pages may call the service, exactly as browsers send them
   * (`https://garden.example`, `capacitor://localhost`). Default: none.
   */
  corsOrigins: origins(),
  /**
   * Further request headers that pages of these origins may send, such as `traceparent`.
   * `Authorization` and `Content-Type` are always allowed. Default: none.
   */
  corsAllowedHeaders: list('must be header names such as traceparent', isFieldName),
  /** Logs each request in one line. Default: no log. */
  logger: optional<Logger>('must have info, warn and error', hasFunctions('info', 'warn', 'error')),
  ...limitRules,
};

/**
 * The rule of every option of {@link startServer} but `tls`, by name: its default and what is
 * expected. A program that reads options from settings can check them with it; the constructors
 * throw a `TypeError` for the first wrong option.
 *
 * @example
 * ```ts
 * import { optionRules } from '@plantstore/server';
 *
 * const { default: byDefault, faultOf } = optionRules.port;
 * const fault = faultOf(Number(process.env['PORT'] ?? byDefault));
 * if (fault !== undefined) console.error(`PORT ${fault}`);
 * ```
 */
export const optionRules = {
  ...serviceRules,
  /**
   * Addresses of proxies, ranges in CIDR notation (`10.0.0.0/8`), and `unix` for those on a Unix
   * socket, whose `X-Forwarded-For` names the client in the log and the events. Default: none, and
   * the connection's address.
   */
  trustedProxies: list('must be addresses, ranges such as 10.0.0.0/8, or unix', isProxy),
  /** Host name or address to listen on. Default: 127.0.0.1 (loopback). */
  host: rule(
    '127.0.0.1',
    'must be a host name or an address, without brackets',
    // Without a host, Node listens on all addresses.
    (value) => typeof value === 'string' && value !== '' && !value.startsWith('['),
  ),
  /** Port to listen on; 0 is any free port. Default: 3000. */
  port: wholeNumber(3_000, 0, 65_535),
  /**
   * Shares the port with other processes of the same user that set it, too; the system distributes
   * new connections among them. Works on Linux and FreeBSD, not on Windows and macOS. Default:
   * false.
   */
  reusePort: rule<boolean>(false, 'must be true or false', (value) => typeof value === 'boolean'),
  /**
   * File descriptor of a listening TCP socket, such as one that systemd hands over. The server
   * accepts its connections, and ignores `host`, `port` and `reusePort`. Default: none.
   */
  fd: optional<number>(
    'must be a file descriptor, a whole number from 0',
    (value) => Number.isInteger(value) && Number(value) >= 0,
  ),
};

type OptionRules = typeof optionRules;

/** Options without a default that may not be left out. */
const requiredNames: readonly string[] = ['repository', 'authenticate'] satisfies RequiredName[];
type RequiredName = 'repository' | 'authenticate';

/** These options, as they are given. */
export type OptionsOf<Name extends keyof OptionRules> = {
  readonly [key in Name & RequiredName]: NonNullable<OptionRules[key]['default']>;
} & { readonly [key in Exclude<Name, RequiredName>]?: NonNullable<OptionRules[key]['default']> };

/** The values of these options, given or by default. */
export type SettingsOf<Rules extends Readonly<Record<string, OptionRule>>> = {
  readonly [key in keyof Rules]: key extends RequiredName
    ? NonNullable<Rules[key]['default']>
    : Rules[key]['default'];
};

/** The limits of a server. Times are in milliseconds, sizes in bytes. */
export type Limits = SettingsOf<typeof limitRules>;

/** Returns the values of some options. Throws a TypeError for the first wrong one. */
export function readOptions<Rules extends Readonly<Record<string, OptionRule>>>(
  rules: Rules,
  options: object,
): SettingsOf<Rules> {
  const given = options as Readonly<Record<string, unknown>>;
  const values = Object.entries(rules).map(([name, one]) => {
    const value = given[name];
    if (value === undefined && !requiredNames.includes(name)) return [name, one.default];
    const fault = one.faultOf(value);
    if (fault !== undefined) throw new TypeError(`${name} ${fault}`);
    return [name, value];
  });
  return Object.fromEntries(values) as SettingsOf<Rules>;
}

/**
 * The options that a server, a request listener and a fetch handler share.
 *
 * @interface
 */
export type ServiceOptions = OptionsOf<
  | Exclude<keyof typeof serviceRules, keyof Limits>
  | 'maxBodyBytes'
  | 'maxInFlight'
  | 'handlerTimeoutMs'
>;

/**
 * Decides whether a bearer token may be used for a request. Only `true` or a token's name lets a
 * request in; throwing or rejecting results in 500.
 *
 * @example
 * ```ts
 * import type { Authenticate } from '@plantstore/server';
 *
 * export const authenticate: Authenticate = (token, { operation }) =>
 *   operation === 'createPlant' &&
 *   token === process.env['PLANT_TOKEN'] && { tokenName: 'greenhouse' };
 * ```
 */
export type Authenticate = (
  token: string,
  request: AuthenticatedRequest,
) => TokenDecision | Promise<TokenDecision>;

/** What a token is used for. A later version may have further operations. */
export type AuthenticatedRequest = {
  /** The `operationId` of the OpenAPI document. */
  readonly operation: 'createPlant';
};

/**
 * The decision of `authenticate`. `true` accepts the token, and so does an object with its name,
 * for the log and the events of the request. Any other value results in 401.
 */
export type TokenDecision =
  | boolean
  | {
      /** Name of the token, for the log. Never a part of the token. */
      readonly tokenName: string;
    };

type Check = (value: unknown) => boolean;

function rule<Value>(byDefault: Value, requirement: string, isValid: Check): OptionRule<Value> {
  const faultOf = (value: unknown) => (isValid(value) ? undefined : requirement);
  return { default: byDefault, faultOf };
}

function wholeNumber(byDefault: number, min: number, max: number): OptionRule<number> {
  const isValid = (value: unknown) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
  return rule(byDefault, `must be a whole number from ${min} to ${max}`, isValid);
}

function optional<Value>(requirement: string, isValid: Check): OptionRule<Value | undefined> {
  return rule<Value | undefined>(undefined, requirement, isValid);
}

function list(requirement: string, isEntry: Check): OptionRule<readonly string[]> {
  return rule([], requirement, (value) => Array.isArray(value) && value.every(isEntry));
}

function hasFunctions(...names: readonly string[]): Check {
  return (value) =>
    names.every((name) => typeof (value as Record<string, unknown> | null)?.[name] === 'function');
}

function origins(): OptionRule<readonly string[]> {
  return { default: [], faultOf: originsFault };
}

function originsFault(given: unknown): string | undefined {
  if (!Array.isArray(given)) return 'must be a list of origins such as https://garden.example';
  return given.map(originFault).find((fault) => fault !== undefined);
}

/** A page of an app has an origin with a scheme of its own (RFC 6454 §6.1). */
function originFault(value: unknown): string | undefined {
  if (value === 'null') return 'must not have null: any page can have this origin';
  const text = String(value);
  if (text.includes('*')) return 'must have each origin in full: a * matches none';
  const [, scheme, authority = ''] = /^([a-z][a-z\d+.-]*):\/\/([^\p{Lu}]*)$/u.exec(text) ?? [];
  // A URL parser returns the origin of a web page, and of no app.
  const origin = scheme === 'http' || scheme === 'https' ? text : 'null';
  const isOrigin = URL.parse(text)?.origin === origin && isAuthorityValid(authority);
  if (typeof value === 'string' && isOrigin) return undefined;
  return 'must be origins such as https://garden.example, in lower case and without a path';
}

/** Returns whether a value is a header name (RFC 9110 §5.1), but `*`, the wildcard of Fetch. */
function isFieldName(name: unknown): boolean {
  return typeof name === 'string' && /^[\w!#$%&'+.^`|~-]+$/.test(name);
}
