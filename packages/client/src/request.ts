import { isExactId, operation } from '@plantstore/core/wire';
import { type CallState, type Failure, failWithCause, invalid } from './errors.ts';
import type { ClientOptions, CreatePlantOptions, Limits, RequestHeaders } from './options.ts';
import { contentNames, type NewPlant } from './plant.ts';
import { longestMs } from './retry-after.ts';
import { checkToken, createGetToken, type GetToken, type Issued } from './token.ts';
import { isFunction, isSignal, undefinedOnThrow } from './untrusted.ts';

type Fetch = NonNullable<ClientOptions['fetch']>;

/** The limits as numbers. */
export type Numbers = Required<{ readonly [Name in keyof Limits]: number }>;

/** The options as they were when the client was created. */
export type Settings = Numbers & {
  /** The URL to send requests to, or `undefined` if `baseUrl` is invalid. */
  readonly url: string | undefined;
  /** The token, if it is a string. */
  readonly token: Issued;
  /** Calls the token function, if there is one. */
  readonly getToken: GetToken | false;
  readonly headers?: ClientOptions['headers'];
  readonly fetch?: ClientOptions['fetch'];
  readonly onRetry?: ClientOptions['onRetry'];
};

/** A call that can be sent, with its mutable state. */
export type Call = CallState &
  Settings & {
    readonly url: string;
    readonly body: string;
    readonly fetch: Fetch;
    readonly signal: AbortSignal | undefined;
    /** Sources of additional header fields; later ones take precedence. */
    readonly headers: readonly RequestHeaders[];
    /** Their fields. */
    fields?: Record<string, string>;
    /** The time at which the time limit of the call expires, of `performance.now()`; 0 after that or an abort. */
    deadline: number;
    /** What did not arrive yet, such as `no token`. */
    missing: string;
  };

export function readSettings(options: ClientOptions): Settings {
  const { baseUrl, token, ...rest } = options;
  const limits = withLimits(defaultLimits, options);
  return {
    ...rest,
    ...limits,
    url: plantsUrl(baseUrl),
    token: checkToken(token),
    getToken: isFunction(token) && createGetToken(token, limits.timeoutMs),
  };
}

export const defaultLimits: Numbers = {
  attemptTimeoutMs: 10_000,
  timeoutMs: 30_000,
  retries: 3,
  retryDelayMs: 200,
  maxRetryDelayMs: 5_000,
};

/** Returns a copy of a base with the limits of options that are valid. */
const withLimits = <Base extends Numbers>(base: Base, options: Limits): Base => {
  const copy: Base & { -readonly [Name in keyof Numbers]: number } = { ...base };
  for (const key of Object.keys(defaultLimits) as (keyof Limits)[]) {
    const value = options[key];
    if (typeof value === 'number' && value >= 0 && (value || !/imeout/.test(key)))
      copy[key] = Math.min(value, longestMs);
  }
  return copy;
};

// new URL() is more lenient: it removes white space and control characters, ignores an empty query,
// fragment or user info, and accepts any number of slashes before the host.
const plainHttpUrl = /^https?:\/\/[^\0-\x20/\\?#@]+([/\\][^\0-\x20?#]*)?$/i;

/** Returns the URL of `/plants` below a base URL, or `undefined` if that is not a plain http(s) URL. */
export const plantsUrl = (baseUrl: unknown): string | undefined =>
  undefinedOnThrow(() => {
    // A URL may be of another realm. What has no match throws.
    const match = ((baseUrl as URL).href ?? baseUrl).match(plainHttpUrl) as RegExpMatchArray;
    return new URL(match[0]).href.replace(/\/?$/, operation.path);
  });

/** Prepares a call to be sent, or returns the error if it is invalid. Of the plant, only the id is validated. */
export const prepareCall = (
  call: CallState,
  settings: Settings,
  newPlant: NewPlant,
  options: CreatePlantOptions,
): Failure | undefined => {
  // Looked up at each call, so that a globalThis.fetch that was patched later is used.
  const { url, fetch: send = fetch, headers, token } = settings;
  if (!url)
    return invalid(
      call,
      'base-url-invalid',
      'baseUrl must be an absolute http(s) URL without user info',
    );
  let member: keyof NewPlant = 'id';
  let body: string;
  try {
    // Each member is read once, so that a getter cannot return one id to the check and another one later.
    const { id } = newPlant;
    if (!isExactId(id))
      return invalid(call, 'id-not-exact', 'id must be a bigint in int64 range, or a safe integer');
    body = `{"id":${id}`;
    for (member of contentNames) {
      const json = JSON.stringify(newPlant[member]) as string | undefined;
      if (json) body += `,"${member}":${json}`;
    }
  } catch {
    return invalid(call, 'plant-unwritable', `${member} must be JSON`);
  }
  const { signal, headers: own } = options;
  // A signal that could not abort the call is an error.
  if (signal && !isSignal(signal))
    return invalid(call, 'signal-invalid', 'signal must be an AbortSignal');
  if (!isFunction(send)) return invalid(call, 'fetch-invalid', 'fetch must be a function');
  const limited = withLimits(settings, options);
  if (token.isOk()) call.tokens.push(token.value);
  Object.assign(call, limited, {
    body: `${body}}`,
    fetch: send,
    signal,
    // Not used, but throws in a runtime without it, such as Jest with jsdom, before anything is sent.
    TextDecoder: new TextDecoder(),
    deadline: performance.now() + limited.timeoutMs,
    // Headers of the call take precedence. Read before the first await, so that later changes have no effect.
    headers: [headers, own].filter(Boolean),
  });
  return undefined;
};

/** Sets the fields of a call to those of its headers, with names in lowercase, or returns the error. */
export const mergeHeaders = async (call: Call): Promise<Failure | undefined> => {
  /** The field that is being set. */
  let name = '';
  let value: string | undefined;
  try {
    // Headers lowercases names, so names that differ in case are merged.
    const merged = new Headers();
    for (const source of call.headers) {
      const fields: object = isFunction(source) ? await source() : source;
      const entries = Symbol.iterator in fields ? (fields as Headers) : Object.entries(fields);
      for ([name, value] of entries as Iterable<[string, string | undefined]>)
        if (value !== undefined) merged.set(name, value);
      name = '';
    }
    call.fields = Object.fromEntries(merged);
  } catch (thrown) {
    // The error for a field may have its value, which may be a secret.
    return failWithCause(call, 'headers must be valid fields', name || thrown, 'headers-invalid');
  }
  return undefined;
};
