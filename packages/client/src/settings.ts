import { operation } from '@plantstore/core/wire';
import { ok, type Result } from 'neverthrow';
import type { ClientOptions, Limits } from './options.ts';
import { longestMs } from './retry-after.ts';
import { checkToken, SharedToken } from './token.ts';
import { isFunction, isText, memberOf, undefinedOnThrow } from './untrusted.ts';

/** The options of a client, as they were when it was created. */
export type Settings = Pick<ClientOptions, 'fetch' | 'headers' | 'onRetry'> & {
  /** The URL to send requests to, or `undefined` if `baseUrl` is invalid. */
  readonly url: string | undefined;
  /** The token or its function, or the message of what is wrong. */
  readonly token: Result<string | SharedToken, string>;
  readonly limits: CallLimits;
};

/** The limits as numbers. */
export type CallLimits = { readonly [Name in keyof Limits]-?: number };

export function readSettings(options: ClientOptions): Settings {
  const { baseUrl, token, ...others } = options;
  const limits = limitsOf(options, defaultLimits);
  return {
    ...others,
    url: plantsUrl(baseUrl),
    token: isFunction(token) ? ok(new SharedToken(token, limits.timeoutMs)) : checkToken(token),
    limits,
  };
}

const defaultLimits: CallLimits = {
  attemptTimeoutMs: 10_000,
  timeoutMs: 30_000,
  retries: 3,
  retryDelayMs: 200,
  maxRetryDelayMs: 5_000,
};

/** Returns the limits of options, and the defaults of those that are missing or invalid. */
export function limitsOf(options: Limits, defaults: CallLimits): CallLimits {
  const limits: { -readonly [Name in keyof CallLimits]: number } = { ...defaults };
  for (const name of limitNames) {
    const value = options[name];
    if (isLimit(name, value)) limits[name] = Math.min(value, longestMs);
  }
  return limits;
}

const limitNames = Object.keys(defaultLimits) as (keyof Limits)[];

function isLimit(name: keyof Limits, value: unknown): value is number {
  if (typeof value !== 'number') return false;
  // Nothing succeeds in no time; no retry and no wait are choices.
  const mayBeZero = name !== 'attemptTimeoutMs' && name !== 'timeoutMs';
  return value > 0 || (mayBeZero && value === 0);
}

/**
 * Returns the URL of `/plants` below a base URL, or `undefined` if that is no plain http(s) URL.
 */
function plantsUrl(baseUrl: unknown): string | undefined {
  // A URL may be of another realm.
  const text = memberOf(baseUrl, 'href') ?? baseUrl;
  if (!isText(text) || !plainHttpUrl.test(text)) return undefined;
  // Throws for a port or a host that is invalid.
  return undefinedOnThrow(() => new URL(text).href.replace(/\/?$/, operation.path));
}

/**
 * An absolute http(s) URL without user info, query and fragment. `new URL()` is more lenient: it
 * removes white space and control characters, ignores an empty query, fragment or user info, and
 * accepts any number of slashes before the host.
 */
const plainHttpUrl = /^https?:\/\/[^\0-\x20/\\?#@]+([/\\][^\0-\x20?#]*)?$/i;
