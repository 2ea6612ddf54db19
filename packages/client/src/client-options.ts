import type { CreatePlantError } from './create-plant-error.ts';
import { plantsUrl } from './plants-url.ts';
import { readMember } from './safely.ts';
import { type TokenRequest, type TokenSource, tokenSource } from './token-source.ts';

/**
 * What `onRetry` hears.
 *
 * @example
 * ```ts
 * import type { Retry } from '@plantstore/client';
 *
 * export const sentence = ({ attempts, waitMs, error }: Retry): string =>
 *   `attempt ${attempts} failed (${error.message}), the next one comes in ${Math.round(waitMs)} ms`;
 * ```
 */
export type Retry = {
  /** The requests that were started so far. */
  readonly attempts: number;
  /** How long the client now waits, in milliseconds. */
  readonly waitMs: number;
  /** Why the last request is repeated. */
  readonly error: CreatePlantError;
};

/**
 * How a client reaches its plant store. What is wrong here does not throw: the calls answer the error.
 *
 * @example
 * ```ts
 * import type { ClientOptions } from '@plantstore/client';
 *
 * export const options: ClientOptions = {
 *   baseUrl: 'https://plants.example/garden/v1',
 *   token: 'mF_9.B5f-4.1JqM',
 *   attemptTimeoutMs: 2_000,
 * };
 * ```
 */
export type ClientOptions = {
  /**
   * Where the service is: an absolute http or https URL without user info, query or fragment. A path
   * is kept, a trailing slash makes no difference. Required. Source: the specification's "Base address".
   */
  readonly baseUrl: string;
  /**
   * The bearer token, an RFC 6750 b64token without the word `Bearer`, or a function that gives one, at
   * once or later. Required. A function is asked at the start of a call, once for all calls that wait
   * at a time, and after a 401 once more with `refresh: true`; what it throws is the error
   * `token-failed`. A token never shows in an error or in the client. Source: the specification's
   * "Authentication".
   */
  readonly token: string | ((request: TokenRequest) => string | Promise<string>);
  /**
   * What sends the requests. Default: `globalThis.fetch`, looked up at each call. It is called
   * without a `this`, with `redirect: 'manual'`.
   */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /**
   * How long one attempt may take, from the request to the last byte of the answer, in milliseconds.
   * Default: 10_000 (10 seconds), also for what is no positive number. More than 2_147_483_647
   * (24.8 days, as long as a timer can be), `Infinity` included, counts as that. An attempt whose time
   * is over is repeated like one that the network broke.
   */
  readonly attemptTimeoutMs?: number | undefined;
  /**
   * How long a call may take, with the wait for a token, all attempts and the waits between them, in
   * milliseconds. Default: 30_000 (30 seconds); limits as for `attemptTimeoutMs`.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * How often a call is repeated at most after a network failure, an attempt whose time was over, or
   * one of the statuses 408, 429, 502, 503 and 504. Default: 3, also for what is no number or is
   * below 0; 0 turns retries off. Creating is idempotent, so a repeated request is safe; behind a
   * gateway that makes it otherwise, turn retries off.
   */
  readonly retries?: number | undefined;
  /**
   * The longest wait before the first retry, in milliseconds; it doubles for each further one. The wait
   * is a random share of it ("full jitter"), on top of the answer's `Retry-After`, if any. Where it would
   * outlast the call's clock, the call ends at once. Default: 200; 0 waits only as `Retry-After` asks.
   */
  readonly retryDelayMs?: number | undefined;
  /** What `retryDelayMs` doubles to at most, in milliseconds. Default: 5_000. */
  readonly maxRetryDelayMs?: number | undefined;
  /** The source of the random shares, each from 0 to 1. Default: `Math.random`. For tests. */
  readonly random?: (() => number) | undefined;
  /**
   * Hears of each retry before its wait. Not waited for, and what it throws is ignored. Default: none.
   */
  readonly onRetry?: ((retry: Retry) => unknown) | undefined;
};

/** The options as they were when the client was made. */
export type Settings = {
  /** Where plants are created, or nothing where `baseUrl` is wrong. */
  readonly url: string | undefined;
  readonly tokens: TokenSource;
  readonly fetch: unknown;
  readonly attemptTimeoutMs: number;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly retryDelayMs: number;
  readonly maxRetryDelayMs: number;
  readonly random: unknown;
  readonly onRetry: unknown;
};

/** As long as a timer can be. */
const longestMs = 2 ** 31 - 1;

export const readSettings = (options: unknown): Settings => {
  const read = (key: string): unknown => readMember(options, key);
  const numberFrom = (least: number, key: string, fallback: number): number => {
    const value = read(key);
    return typeof value === 'number' && value >= least ? Math.min(value, longestMs) : fallback;
  };
  return {
    url: plantsUrl(read('baseUrl')),
    tokens: tokenSource(read('token')),
    fetch: read('fetch'),
    attemptTimeoutMs: numberFrom(Number.MIN_VALUE, 'attemptTimeoutMs', 10_000),
    timeoutMs: numberFrom(Number.MIN_VALUE, 'timeoutMs', 30_000),
    retries: numberFrom(0, 'retries', 3),
    retryDelayMs: numberFrom(0, 'retryDelayMs', 200),
    maxRetryDelayMs: numberFrom(0, 'maxRetryDelayMs', 5_000),
    random: read('random') ?? Math.random,
    onRetry: read('onRetry'),
  };
};
