import { isBearerToken } from '@plantstore/core/wire';
import { type OptionRule, optionRules as rules } from '@plantstore/server';
import { err, ok, type Result } from 'neverthrow';
import { shown } from './text.ts';
import { createTokenSet, type TokenSet } from './token-set.ts';

/** Parses a value. The error is a requirement that follows the setting's name: "must be …". */
export type Parser<T> = {
  /** Represents the value in the help. */
  readonly placeholder: string;
  readonly parse: (text: string) => Result<T, string>;
  /** Maximum length of a wrong value that is shown. Default: 12; a longer one may be a token. */
  readonly maxShown?: number;
  /** Whether white space around the entries is dropped. */
  readonly isList?: true;
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

export type DatabaseSetting =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** Every setting of the program, in the order of the help and the documentation. */
export const settingTable = {
  host: textRow('ADDRESS', rules.host, 'address to listen on'),
  port: numberRow('PORT', rules.port, 'port to listen on, 0 for any free one'),
  reusePort: { parser: onOff(), default: 'off', help: 'share the port with other processes' },
  basePath: textRow('PATH', rules.basePath, 'path in front of /plants'),
  database: {
    parser: databaseParser(),
    default: 'sqlite:plants.db',
    help: 'sqlite:FILE, postgres://… or memory:',
  },
  tokensFile: {
    parser: file(),
    unset: 'PLANTSTORE_TOKENS',
    help: 'file of accepted bearer tokens, one per line; reread on change',
  },
  tokens: {
    parser: tokensParser(),
    isSecret: true,
    unset: 'one is generated and printed on standard error',
    help: 'accepted bearer tokens, comma-separated',
  },
  tlsCert: {
    parser: file(),
    unset: 'none, plain HTTP',
    help: 'certificate chain in PEM, for HTTPS; reread on change',
  },
  tlsKey: { parser: file(), unset: 'none', help: 'its private key in PEM; reread on change' },
  corsOrigins: {
    parser: listParser('ORIGINS', rules.corsOrigins),
    unset: 'none',
    help: 'origins whose pages may send requests, comma-separated',
  },
  corsAllowedHeaders: {
    parser: listParser('HEADERS', rules.corsAllowedHeaders),
    unset: 'none',
    help: 'further request headers that these pages may send, comma-separated',
  },
  trustedProxies: {
    parser: listParser('ADDRESSES', rules.trustedProxies),
    unset: 'none',
    help: 'proxies whose X-Forwarded-For names the client in the log,\ncomma-separated',
  },
  healthPort: {
    parser: healthPort(),
    default: 'off',
    help: 'port of /livez, /readyz and /metrics, 0 for any free one',
  },
  metrics: {
    parser: onOff(),
    default: 'off',
    help: 'serve /metrics for Prometheus on the health port;\nneeds the package prom-client',
  },
  maxBodyBytes: numberRow(
    'BYTES',
    rules.maxBodyBytes,
    'largest request body; at most 268435456 (256 MiB)',
  ),
  maxInFlight: numberRow(
    'REQUESTS',
    rules.maxInFlight,
    'requests in flight at a time; one more gets 503',
  ),
  maxConnections: numberRow(
    'CONNECTIONS',
    rules.maxConnections,
    'open connections at a time; one more is closed',
  ),
  headersTimeoutMs: timeRow(rules.headersTimeoutMs, 'for the head of a request to arrive'),
  requestTimeoutMs: timeRow(rules.requestTimeoutMs, 'for a whole request to arrive'),
  keepAliveTimeoutMs: timeRow(rules.keepAliveTimeoutMs, 'for the next request on a connection'),
  handlerTimeoutMs: timeRow(rules.handlerTimeoutMs, 'for the database to respond; then 503'),
  shutdownTimeoutMs: {
    // close() has no rule; another timeout has the same bounds.
    ...timeRow(rules.requestTimeoutMs, 'for requests in flight to finish after SIGTERM'),
    default: 20_000,
  },
  log: {
    parser: oneOf('json', 'pretty'),
    unset: 'pretty on a terminal, else json',
    help: 'one JSON object per line, or lines for people',
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof settingTable;

export const settingNames = Object.keys(settingTable) as SettingName[];

/** Returns the name on a command line, such as `max-body-bytes`; `undefined` for a secret. */
export function optionOf(name: SettingName): string | undefined {
  const { isSecret }: Setting = settingTable[name];
  return isSecret ? undefined : name.replaceAll(/[A-Z]/g, '-$&').toLowerCase();
}

/** Returns the flag, such as `--max-body-bytes`, or `undefined` for a secret. */
export function flagOf(name: SettingName): string | undefined {
  const option = optionOf(name);
  return option && `--${option}`;
}

/** Returns the environment variable, such as `PLANTSTORE_MAX_BODY_BYTES`. */
export const variableOf = (name: SettingName): string =>
  `PLANTSTORE_${name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`;

/** Returns what a setting is set with, for a message: its flag, if it has one, and its variable. */
export function sourceOf(...names: readonly SettingName[]): string {
  const sources = names.map((name) => [flagOf(name), variableOf(name)].filter(Boolean).join(', '));
  return sources.join('; ');
}

export const variables: readonly string[] = settingNames.map(variableOf);

/** Returns the default of a setting, as the help and the documentation show it. */
export function defaultOf(name: SettingName): string {
  const row: Setting = settingTable[name];
  return 'default' in row ? String(row.default) || 'none' : row.unset;
}

/** Returns the name of a database: of a URL without the parts that may contain a password. */
export function databaseName(setting: DatabaseSetting): string {
  switch (setting.kind) {
    case 'memory':
      return 'memory:';
    case 'sqlite':
      return `sqlite:${setting.path}`;
    case 'postgres':
      return setting.url.replace(/\?.*$/s, '').replace(/^[^:]*:\/\/(?:.*@)?/s, 'postgres://');
  }
}

/** Returns a setting's value as text, without secrets. */
export function showSetting(name: SettingName, value: unknown): string {
  const { isSecret }: Setting = settingTable[name];
  if (isSecret) return 'set, not shown';
  if (name === 'database') return shown(databaseName(value as DatabaseSetting));
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return shown(Array.isArray(value) ? value.join(',') : String(value));
}

export function oneOf<Word extends string>(...words: readonly Word[]): Parser<Word> {
  return {
    placeholder: words.join('|'),
    parse(text) {
      const value = words.find((word) => word === text);
      return value === undefined ? err(`must be ${words.join(' or ')}`) : ok(value);
    },
  };
}

function onOff(): Parser<boolean> {
  const { placeholder, parse } = oneOf('on', 'off');
  return { placeholder, parse: (text) => parse(text).map((word) => word === 'on') };
}

type Row<Value> = {
  readonly parser: Parser<Value>;
  readonly default: Value;
  readonly help: string;
};

function textRow(placeholder: string, rule: OptionRule<string>, help: string): Row<string> {
  return { parser: parserOf(placeholder, rule, String, Infinity), default: rule.default, help };
}

function numberRow(placeholder: string, rule: OptionRule<number>, help: string): Row<number> {
  return { parser: numberParser(placeholder, rule), default: rule.default, help };
}

function timeRow(rule: OptionRule<number>, help: string): Row<number> {
  return numberRow('MS', rule, help);
}

function numberParser(placeholder: string, rule: OptionRule<number>): Parser<number> {
  return parserOf(placeholder, rule, (text) => (/^\d+$/.test(text) ? Number(text) : Number.NaN));
}

function healthPort(): Parser<number | undefined> {
  const parser = numberParser('PORT', rules.port);
  const parsePort = (text: string) => parser.parse(text).mapErr((wrong) => `${wrong}, or off`);
  return { ...parser, parse: (text) => (text === 'off' ? ok(undefined) : parsePort(text)) };
}

function listParser(placeholder: string, rule: OptionRule): Parser<readonly string[]> {
  const { parse, ...parser } = parserOf(placeholder, rule, splitList, Infinity);
  const parseList = (text: string) => parse(text).mapErr((fault) => `${fault}, comma-separated`);
  return { ...parser, parse: parseList, isList: true };
}

function file(): Parser<string> {
  const faultOf = (text: unknown) => (text === '' ? 'must be the path of a file' : undefined);
  return parserOf('FILE', { faultOf }, String, Infinity);
}

function parserOf<Value>(
  placeholder: string,
  { faultOf }: Pick<OptionRule, 'faultOf'>,
  read: (text: string) => Value,
  maxShown = 12,
): Parser<Value> {
  return {
    placeholder,
    maxShown,
    parse(text) {
      const value = read(text);
      const fault = faultOf(value);
      return fault === undefined ? ok(value) : err(fault);
    },
  };
}

export function splitList(text: string): string[] {
  return text.split(',').map((entry) => entry.trim());
}

/** What a URL, a path of Windows, a template, or a value with quotes or a comment has. */
const noPath =
  /^(?:[a-z][a-z\d]*:|[\s\p{Cf}\p{QMark}`~])|(?:^|\/)[$%]\w|[\p{QMark}`]$|[?#;<>\\]|\$[{(]|\{\{/iu;
/** What a program writes in place of a value that is not there. */
const noValue = /(?:^|\/)(?:undefined|null)(?:\/|$)/;

function databaseParser(): Parser<DatabaseSetting> {
  return {
    placeholder: 'DATABASE',
    parse(text) {
      if (text === 'memory:') return ok({ kind: 'memory' });
      if (/^postgres(?:ql)?:\/\//.test(text)) return ok({ kind: 'postgres', url: text });
      const path = /^sqlite:(?!\/\/|:memory:)(.+)$/s.exec(text)?.[1];
      if (path === undefined)
        return err('must be sqlite: and the path of a file, a postgres:// URL, or memory:');
      if (noPath.test(path) || noValue.test(path)) {
        return err(
          'must be sqlite: and a path: no URL, no variable, no quotes, undefined, null or ?#;<>\\',
        );
      }
      return ok({ kind: 'sqlite', path });
    },
  };
}

/** RFC 6750, section 2.1. */
export const tokenForm = 'letters, digits and -._~+/, with = at the end only';

function tokensParser(): Parser<TokenSet> {
  return {
    placeholder: 'TOKENS',
    maxShown: 0,
    isList: true,
    parse(text) {
      const tokens = splitList(text);
      const wrong = tokens.flatMap((token, index) => (isBearerToken(token) ? [] : [index + 1]));
      if (wrong.length === 0) return ok(createTokenSet(tokens.map((token) => ({ token }))));
      const which = `wrong: number ${wrong.join(', ')}`;
      return err(`must be bearer tokens (${tokenForm}), comma-separated; ${which}`);
    },
  };
}
