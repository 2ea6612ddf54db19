import { isBearerToken } from '@plantstore/core/wire';
import { err, ok, type Result } from 'neverthrow';
import { type AcceptedToken, acceptedToken } from './accepted-token.ts';
import { isAddressRange } from '../../../server/src/http/client-address.ts';
import { isFieldName, isOrigin } from '../../../server/src/http/cors.ts';
import { basePathForm, normalizeBasePath } from '../../../server/src/http/request-path.ts';
import { defaultLimits } from '../../../server/src/http/limits.ts';

/** Parses a value. The error is what is expected instead, to follow "must be" in a message. */
export type Parser<T> = {
  /** Represents the value in the help. */
  readonly placeholder: string;
  readonly parse: (text: string) => Result<T, string>;
};

/** One setting; its flag and its variable have the name that it has in the table. */
export type Setting = {
  readonly parser: Parser<unknown>;
  /** Lines of at most 74 characters. */
  readonly help: string;
  /** Whether it has no flag, because process lists show command lines. */
  readonly isSecret?: true;
} & (
  | { /** Parsed if the setting is not set. */ readonly default: string | number }
  | { /** Effect if the setting is not set. */ readonly unset: string }
);

/** Where plants are kept. */
export type DatabaseSetting =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** Maximum length of a wrong number in a message, in UTF-16 code units. */
const maxShownLength = 12;

const wholeNumber = (placeholder: string, min: number, max: number): Parser<number> => ({
  placeholder,
  parse(text) {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return ok(value);
    // A longer one may be a token.
    const found = text.length > maxShownLength ? '' : `, not ${JSON.stringify(text)}`;
    return err(`a whole number from ${min} to ${max}${found}`);
  },
});

const port = wholeNumber('PORT', 0, 65_535);
/** At most a day; a timer of Node can wait for at most 24 days. */
const milliseconds = wholeNumber('MS', 1, 86_400_000);

/** A parser for one of some words. */
export const oneOf = <Word extends string>(...words: readonly Word[]): Parser<Word> => ({
  placeholder: words.join('|'),
  parse(text) {
    const value = words.find((word) => word === text);
    return value === undefined ? err(words.join(' or ')) : ok(value);
  },
});

const onOrOff = oneOf('on', 'off');
const onOff: Parser<boolean> = {
  ...onOrOff,
  parse: (text) => onOrOff.parse(text).map((word) => word === 'on'),
};

type IsValid = (text: string) => boolean;

const textIf = (isValid: IsValid, placeholder: string, expected: string): Parser<string> => ({
  placeholder,
  parse: (text) => (isValid(text) ? ok(text) : err(expected)),
});

const isNotEmpty: IsValid = (text) => text !== '';
const isHost: IsValid = (text) => isNotEmpty(text) && !text.startsWith('[');
const file = textIf(isNotEmpty, 'FILE', 'the path of a file');

const splitList = (text: string): string[] => text.split(',').map((entry) => entry.trim());

const listWhere = (
  isValid: IsValid,
  placeholder: string,
  expected: string,
): Parser<readonly string[]> => ({
  placeholder,
  parse(text) {
    const entries = splitList(text);
    return entries.every(isValid) ? ok(entries) : err(expected);
  },
});

const database: Parser<DatabaseSetting> = {
  placeholder: 'DATABASE',
  parse(text) {
    if (text === 'memory:') return ok({ kind: 'memory' });
    if (/^postgres(?:ql)?:\/\//.test(text)) return ok({ kind: 'postgres', url: text });
    const path = /^sqlite:(?!\/\/|:memory:)(.+)$/s.exec(text)?.[1];
    return path === undefined
      ? err('sqlite: and the path of a file, a postgres:// URL, or memory:')
      : ok({ kind: 'sqlite', path });
  },
};

/** Keeps digests only, because a crash dump contains the settings. */
const tokenDigests: Parser<readonly AcceptedToken[]> = {
  placeholder: 'TOKENS',
  parse(text) {
    const tokens = splitList(text);
    const wrong = tokens.flatMap((token, index) => (isBearerToken(token) ? [] : [index + 1]));
    if (wrong.length === 0) return ok(tokens.map(acceptedToken));
    return err(
      `bearer tokens, comma-separated: letters, digits and -._~+/, with = at the end only (wrong: number ${wrong.join(', ')})`,
    );
  },
};

/** Every setting of the program, in the order of the help and the documentation. */
export const settingTable = {
  host: {
    parser: textIf(isHost, 'ADDRESS', 'a host name or an address, without brackets'),
    default: '127.0.0.1',
    help: 'address to listen on',
  },
  port: { parser: port, default: 3_000, help: 'port to listen on, 0 for any free one' },
  reusePort: { parser: onOff, default: 'off', help: 'share the port with other processes' },
  basePath: {
    parser: textIf((text) => normalizeBasePath(text) !== undefined, 'PATH', basePathForm),
    default: '',
    help: 'path in front of /plants',
  },
  database: {
    parser: database,
    default: 'sqlite:plants.db',
    help: 'sqlite:FILE, postgres://… or memory:',
  },
  tokensFile: {
    parser: file,
    unset: 'PLANTSTORE_TOKENS',
    help: 'file of accepted bearer tokens, one per line; reread on SIGHUP',
  },
  tokens: {
    parser: tokenDigests,
    isSecret: true,
    unset: 'one is generated and printed on standard error',
    help: 'accepted bearer tokens, comma-separated',
  },
  tlsCert: {
    parser: file,
    unset: 'none, plain HTTP',
    help: 'certificate chain in PEM, for HTTPS; reread on SIGHUP',
  },
  tlsKey: { parser: file, unset: 'none', help: 'its private key in PEM; reread on SIGHUP' },
  corsOrigins: {
    parser: listWhere(
      isOrigin,
      'ORIGINS',
      'origins such as https://garden.example, comma-separated, each in lower case and without a path',
    ),
    unset: 'none',
    help: 'origins whose pages may send requests, comma-separated',
  },
  corsAllowedHeaders: {
    parser: listWhere(isFieldName, 'HEADERS', 'header names such as traceparent, comma-separated'),
    unset: 'none',
    help: 'further request headers that these pages may send, comma-separated',
  },
  trustedProxies: {
    parser: listWhere(
      isAddressRange,
      'ADDRESSES',
      'addresses, or ranges such as 10.0.0.0/8, comma-separated',
    ),
    unset: 'none',
    help: 'proxies whose X-Forwarded-For names the client in the log,\ncomma-separated',
  },
  healthPort: {
    parser: port,
    unset: 'off',
    help: 'port of /livez, /readyz and /metrics, 0 for any free one',
  },
  metrics: {
    parser: onOff,
    default: 'off',
    help: 'serve /metrics for Prometheus on the health port;\nneeds the package prom-client',
  },
  maxBodyBytes: {
    parser: wholeNumber('BYTES', 1, 268_435_456),
    default: defaultLimits.maxBodyBytes,
    help: 'largest request body; at most 268435456 (256 MiB)',
  },
  maxInFlight: {
    parser: wholeNumber('REQUESTS', 1, 1_000_000),
    default: defaultLimits.maxInFlight,
    help: 'requests in flight at a time; one more gets 503',
  },
  maxConnections: {
    parser: wholeNumber('CONNECTIONS', 1, 1_000_000),
    default: defaultLimits.maxConnections,
    help: 'open connections at a time; one more is closed',
  },
  headersTimeoutMs: {
    parser: milliseconds,
    default: defaultLimits.headersTimeoutMs,
    help: 'for the head of a request to arrive',
  },
  requestTimeoutMs: {
    parser: milliseconds,
    default: defaultLimits.requestTimeoutMs,
    help: 'for a whole request to arrive',
  },
  keepAliveTimeoutMs: {
    parser: milliseconds,
    default: defaultLimits.keepAliveTimeoutMs,
    help: 'for the next request on a connection',
  },
  handlerTimeoutMs: {
    parser: milliseconds,
    default: defaultLimits.handlerTimeoutMs,
    help: 'for the database to respond; then 503',
  },
  shutdownTimeoutMs: {
    parser: milliseconds,
    default: 20_000,
    help: 'for requests in flight to finish after SIGTERM',
  },
  log: {
    parser: oneOf('json', 'pretty'),
    unset: 'pretty on a terminal, else json',
    help: 'one JSON object per line, or lines for people',
  },
} as const satisfies Record<string, Setting>;

/** The name of a setting in the table: `maxBodyBytes`. */
export type SettingName = keyof typeof settingTable;

export const settingNames = Object.keys(settingTable) as SettingName[];

/** Converts a name such as `maxBodyBytes` to a flag. */
export const toFlag = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, '-$&').toLowerCase()}`;

/** Returns the flag, such as `--max-body-bytes`, or `undefined` for a secret. */
export const flagOf = (name: SettingName): string | undefined => {
  const { isSecret }: Setting = settingTable[name];
  return isSecret ? undefined : toFlag(name);
};

/** Returns the environment variable, such as `PLANTSTORE_MAX_BODY_BYTES`. */
export const variableOf = (name: SettingName): string =>
  `PLANTSTORE_${name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`;

/** Returns the default of a setting, as the help and the documentation show it. */
export const defaultOf = (name: SettingName): string => {
  const row: Setting = settingTable[name];
  return 'default' in row ? String(row.default) || 'none' : row.unset;
};

/** Returns the name of a database; for a URL only hosts and database, because the rest may contain a password. */
export const databaseName = (setting: DatabaseSetting): string => {
  switch (setting.kind) {
    case 'memory':
      return 'memory:';
    case 'sqlite':
      return `sqlite:${setting.path}`;
    case 'postgres':
      return setting.url.replace(/\?.*$/s, '').replace(/^[^:]*:\/\/(?:.*@)?/s, 'postgres://');
  }
};

/** Returns a setting's value as text, without secrets. */
export const showSetting = (name: SettingName, value: unknown): string => {
  const { isSecret }: Setting = settingTable[name];
  if (isSecret) return 'set, not shown';
  if (name === 'database') return databaseName(value as DatabaseSetting);
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return Array.isArray(value) ? value.join(',') : String(value);
};
