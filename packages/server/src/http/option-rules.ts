import { defaultLimits, type Limits } from './options.ts';
import { percentDecode } from './request-head.ts';

/** The rule of an option. */
export type OptionRule<Value = unknown> = {
  /** The value of an option that is left out; `undefined` for none. */
  readonly default: Value;
  /** What is expected, to follow the name of the option: `must be a whole number from 1 to 1000000`. */
  readonly requirement: string;
  /** Returns whether a value is valid. */
  readonly isValid: (value: unknown) => boolean;
};

/** Throws a TypeError for the first wrong option. Only a required one may not be left out. */
export function assertOptions(
  rules: Readonly<Record<string, OptionRule>>,
  options: object,
  required: readonly string[] = [],
): void {
  const values = options as Readonly<Record<string, unknown>>;
  for (const [name, { requirement, isValid }] of Object.entries(rules)) {
    const value = values[name];
    if ((value !== undefined || required.includes(name)) && !isValid(value))
      throw new TypeError(`${name} ${requirement}`);
  }
}

/** The longest timeout: a timer of Node waits for at most 24 days. */
const dayMs = 86_400_000;

/** The rules of the options that need no module of Node. */
export const serviceRules = {
  repository: rule(undefined, 'must have create', hasFunctions('create')),
  authenticate: rule(undefined, 'must be a function', (value) => typeof value === 'function'),
  basePath: rule(
    '',
    'must be a path that begins with a slash, without empty or dot segments, backslashes, braces or a query',
    (value) => typeof value === 'string' && normalizeBasePath(value) !== undefined,
  ),
  corsOrigins: rule(
    [],
    'must be origins such as https://garden.example, each in lower case and without a path',
    isListOf(isOrigin),
  ),
  corsAllowedHeaders: rule([], 'must be header names such as traceparent', isListOf(isFieldName)),
  logger: rule(undefined, 'must have info, warn and error', hasFunctions('info', 'warn', 'error')),
  maxBodyBytes: limit('maxBodyBytes', 268_435_456),
  maxInFlight: limit('maxInFlight', 1_000_000),
  maxConnections: limit('maxConnections', 1_000_000),
  headersTimeoutMs: limit('headersTimeoutMs', dayMs),
  requestTimeoutMs: limit('requestTimeoutMs', dayMs),
  keepAliveTimeoutMs: limit('keepAliveTimeoutMs', dayMs),
  handlerTimeoutMs: limit('handlerTimeoutMs', dayMs),
};

export function rule<Value>(
  byDefault: Value,
  requirement: string,
  isValid: OptionRule['isValid'],
): OptionRule<Value> {
  return { default: byDefault, requirement, isValid };
}

export function wholeNumber(byDefault: number, min: number, max: number): OptionRule<number> {
  const isValid = (value: unknown) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
  return rule(byDefault, `must be a whole number from ${min} to ${max}`, isValid);
}

export function isListOf(isValid: (value: unknown) => boolean): OptionRule['isValid'] {
  return (list) => Array.isArray(list) && list.every(isValid);
}

function hasFunctions(...names: readonly string[]): OptionRule['isValid'] {
  return (value) =>
    names.every((name) => typeof (value as Record<string, unknown> | null)?.[name] === 'function');
}

function limit(name: keyof Limits, max: number): OptionRule<number> {
  return wholeNumber(defaultLimits[name], 1, max);
}

/**
 * Returns a base path in the form in which paths are compared: percent-decoded, without a trailing
 * slash. Returns `undefined` for one without a leading slash, that is ambiguous or cannot be decoded.
 */
export function normalizeBasePath(basePath: string): string | undefined {
  if (basePath === '') return '';
  if (!basePath.startsWith('/') || ambiguous.test(basePath)) return undefined;
  return percentDecode(basePath)?.replace(/\/$/, '');
}

/** What a URL parser would change or cut off in a path, and what is left of a template. */
const ambiguous = /[?#{}\\\p{Cc}]|\/\/|\/\.{1,2}(?:\/|$)/u;

/** Returns whether a value is an origin as browsers send it: lower case, no path, no default port. */
function isOrigin(value: unknown): boolean {
  return typeof value === 'string' && /^https?:/.test(value) && URL.parse(value)?.origin === value;
}

/** Returns whether a value is a header name (RFC 9110 §5.1), but `*`, the wildcard of Fetch. */
function isFieldName(name: unknown): boolean {
  return typeof name === 'string' && /^[\w!#$%&'+.^`|~-]+$/.test(name);
}
