import { copyPlant, encodeNewPlant, isExactId, operation } from '@plantstore/core/wire';
import { err } from 'neverthrow';
import type { CallState, Failure, RequestInvalid } from './errors.ts';
import type { ClientOptions, CreatePlantOptions, Limits, RequestHeaders } from './options.ts';
import type { NewPlant } from './plant.ts';
import { createGetToken, type GetToken, validToken } from './token.ts';
import { isFunction, isSignal, undefinedOnThrow } from './untrusted.ts';

type Fetch = NonNullable<ClientOptions['fetch']>;

/** The limits as numbers. */
export type Numbers = Required<{ readonly [Name in keyof Limits]: number }>;

/** The options as they were when the client was created. */
export type Settings = {
  /** The URL to send requests to, or `undefined` if `baseUrl` is invalid. */
  readonly url: string | undefined;
  /** The token, or `undefined` if it is invalid or a function. */
  readonly token: string | undefined;
  /** Calls the token function, if there is one. */
  readonly getToken: GetToken | undefined;
  readonly headers?: ClientOptions['headers'];
  readonly fetch?: ClientOptions['fetch'];
  readonly limits: Numbers;
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
  };

export function readSettings(options: ClientOptions): Settings {
  const { baseUrl, token, ...rest } = options;
  const limits = readLimits(options);
  return {
    ...rest,
    url: plantsUrl(baseUrl),
    token: validToken(token),
    getToken: isFunction(token) ? createGetToken(token, limits.timeoutMs) : undefined,
    limits,
  };
}

export const defaultLimits: Numbers = {
  attemptTimeoutMs: 10_000,
  timeoutMs: 30_000,
  retries: 3,
  retryDelayMs: 200,
  maxRetryDelayMs: 5_000,
};

/** Returns the limits of a client or of a call; each that is missing or invalid is that of `fallback`. */
const readLimits = (options: Limits, fallback = defaultLimits): Numbers => {
  const limits = Object.entries(fallback).map(([key, limit]) => {
    const value = options[key as keyof Limits];
    const isValid =
      typeof value === 'number' && (value > 0 || (value === 0 && !/imeout/.test(key)));
    // No timer can be longer.
    return [key, isValid ? Math.min(value, 2 ** 31 - 1) : limit];
  });
  return Object.fromEntries(limits) as Numbers;
};

// new URL() is more lenient: it removes white space and control characters, ignores an empty query,
// fragment or user info, and accepts any number of slashes before the host.
const plainHttpUrl = /^https?:\/\/[^\0-\x20\s/\\?#@]+(?:[/\\][^\0-\x20\s?#]*)?$/i;

/** Returns the URL of `/plants` below a base URL, or `undefined` if that is not a plain http(s) URL. */
export const plantsUrl = (baseUrl: unknown): string | undefined =>
  undefinedOnThrow(() => {
    // A URL may be of another realm.
    const text = (baseUrl as URL).href ?? baseUrl;
    return typeof text === 'string' && plainHttpUrl.test(text)
      ? new URL(text).href.replace(/\/?$/, operation.path)
      : undefined;
  });

/** Prepares a call to be sent, or returns the error if it is invalid. Of the plant, only the id is validated. */
export const prepareCall = (
  call: CallState,
  settings: Settings,
  newPlant: NewPlant,
  options: CreatePlantOptions,
): Failure | undefined => {
  // Looked up at each call, so that a globalThis.fetch that was patched later is used.
  const { url, fetch = globalThis.fetch, headers, token } = settings;
  if (!url)
    return invalid('base-url-invalid', 'baseUrl must be an absolute http(s) URL without user info');
  const body = undefinedOnThrow(() => {
    // Each member is read once, so that a getter cannot return one id to the check and another one later.
    const plant = copyPlant(newPlant);
    return isExactId(plant.id) && encodeNewPlant(plant);
  });
  if (body === undefined) return invalid('plant-unwritable', 'plant must be JSON');
  if (!body)
    return invalid('id-not-exact', 'id must be a bigint in int64 range, or a safe integer');
  const { signal } = options;
  // A signal that could not abort the call is an error.
  if (signal && !isSignal(signal))
    return invalid('signal-invalid', 'signal must be an AbortSignal');
  if (!isFunction(fetch)) return invalid('fetch-invalid', 'fetch must be a function');
  const limits = readLimits(options, settings.limits);
  if (token) call.tokens.push(token);
  Object.assign(call, settings, {
    body,
    fetch,
    signal,
    // Not used, but throws in a runtime without it, such as Jest with jsdom, before anything is sent.
    TextDecoder: new TextDecoder(),
    limits,
    deadline: performance.now() + limits.timeoutMs,
    // Headers of the call take precedence. Read before the first await, so that later changes have no effect.
    headers: [headers, options.headers].filter(Boolean) as RequestHeaders[],
  });
  return undefined;
};

/** Returns the error for an invalid argument or option. Nothing was sent. */
export const invalid = (reason: RequestInvalid['reason'], message: string): Failure =>
  err({ kind: 'request-invalid', reason, message, attempts: 0 });

/** Sets the fields of a call to those of its headers, with names in lowercase, or returns the error. */
export const mergeHeaders = async (call: Call): Promise<Failure | undefined> => {
  try {
    // Headers lowercases names, so names that differ in case are merged.
    const merged = new Headers();
    for (const source of call.headers) {
      const headers = isFunction(source) ? await source() : source;
      new Headers(headers).forEach((value, name) => merged.set(name, value));
    }
    call.fields = Object.fromEntries(merged);
    return undefined;
  } catch {
    return invalid('headers-invalid', 'headers must be valid fields');
  }
};
