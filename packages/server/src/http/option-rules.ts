import { isFieldName, isOrigin } from './cors.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { basePathForm, normalizeBasePath } from './request-path.ts';

/** The rule of an option. */
export type OptionRule<Value = unknown> = {
  /** The value of an option that is left out; `undefined` for none. */
  readonly default: Value;
  /** What is expected, to follow the name of the option: `must be a whole number from 1 to 1000000`. */
  readonly requirement: string;
  /** Returns whether a value is valid. */
  readonly isValid: (value: unknown) => boolean;
  /** Whether it cannot be left out. Default: false. */
  readonly isRequired?: true;
};

/** Rules of options by name. */
export type OptionRules = Readonly<Record<string, OptionRule>>;

/** Throws a TypeError for the first wrong option. Options without a rule are ignored. */
export function assertOptions(rules: OptionRules, options: object): void {
  const values = options as Readonly<Record<string, unknown>>;
  for (const [name, { requirement, isValid, isRequired = false }] of Object.entries(rules)) {
    const value = values[name];
    if ((value !== undefined || isRequired) && !isValid(value))
      throw new TypeError(`${name} ${requirement}`);
  }
}

/** The rules of the options that need no module of Node. */
export const serviceRules = {
  repository: {
    default: undefined,
    requirement: 'must have create',
    isValid: hasFunctions('create'),
    isRequired: true,
  },
  authenticate: {
    default: undefined,
    requirement: 'must be a function',
    isValid: (value) => typeof value === 'function',
    isRequired: true,
  },
  basePath: {
    default: '',
    requirement: `must be ${basePathForm}`,
    isValid: (value) => typeof value === 'string' && normalizeBasePath(value) !== undefined,
  },
  corsOrigins: {
    default: [],
    requirement:
      'must be origins such as https://garden.example, each in lower case and without a path',
    isValid: isListOf(isOrigin),
  },
  corsAllowedHeaders: {
    default: [],
    requirement: 'must be header names such as traceparent',
    isValid: isListOf(isFieldName),
  },
  logger: {
    default: undefined,
    requirement: 'must have info, warn and error',
    isValid: hasFunctions('info', 'warn', 'error'),
  },
  maxBodyBytes: limit('maxBodyBytes', 268_435_456),
  maxInFlight: limit('maxInFlight', 1_000_000),
  maxConnections: limit('maxConnections', 1_000_000),
  headersTimeoutMs: timeout('headersTimeoutMs'),
  requestTimeoutMs: timeout('requestTimeoutMs'),
  keepAliveTimeoutMs: timeout('keepAliveTimeoutMs'),
  handlerTimeoutMs: timeout('handlerTimeoutMs'),
} as const satisfies OptionRules;

/** Returns the rule of an option that is a whole number. */
export function wholeNumber(byDefault: number, min: number, max: number): OptionRule<number> {
  return {
    default: byDefault,
    requirement: `must be a whole number from ${min} to ${max}`,
    isValid: (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
  };
}

/** Returns a check of a list. */
export function isListOf(isValid: (value: unknown) => boolean): OptionRule['isValid'] {
  return (list) => Array.isArray(list) && list.every(isValid);
}

function limit(name: keyof Limits, max: number): OptionRule<number> {
  return wholeNumber(defaultLimits[name], 1, max);
}

/** At most a day: a timer of Node waits for at most 24 days. */
function timeout(name: keyof Limits): OptionRule<number> {
  return limit(name, 86_400_000);
}

function hasFunctions(...names: readonly string[]): OptionRule['isValid'] {
  return (value) =>
    names.every((name) => typeof (value as Record<string, unknown> | null)?.[name] === 'function');
}
