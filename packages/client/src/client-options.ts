import type { CreatePlantError } from './create-plant-error.ts';
import { readMember } from './lenient.ts';
import { plantsUrl } from './plants-url.ts';
import { type AskToken, type TokenRequest, tokenQuestion } from './token-source.ts';

/**
 * What `onRetry` receives.
 *
 * @example
 * ```ts
 * import type { Retry } from '@plantstore/client';
 *
 * export const sentence = ({ attempts, waitMs, error }: Retry): string =>
 *   `attempt ${attempts} failed (${error.message}), the next one starts in ${Math.round(waitMs)} ms`;
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

/** @inline */
type Fields = { readonly [name: string]: string };

/**
 * Header fields to send, or a function that returns them, called once for each call.
 *
 * @example
 * ```ts
 * import type { RequestHeaders } from '@plantstore/client';
 *
 * declare const currentTrace: () => string;
 * export const headers: RequestHeaders = () => ({ traceparent: currentTrace() });
 * ```
 */
export type RequestHeaders = Fields | (() => Fields | Promise<Fields>);

/**
 * What the client passes to `fetch`, assignable to every `RequestInit`.
 *
 * @interface
 */
export type FetchInit = {
  /** Always `POST`. */
  readonly method: 'POST';
  /** `Authorization` holds the token. */
  readonly headers: Record<string, string>;
  /** The plant as JSON. */
  readonly body: string;
  /** A redirect is not followed. */
  readonly redirect: 'manual';
  /** Aborts when the attempt ends. */
  readonly signal: AbortSignal;
};

/**
 * What the client uses of a response.
 *
 * @interface
 */
export type FetchResponse = {
  /** The HTTP status. */
  readonly status: number;
  /** The header fields. */
  readonly headers: {
    /** Returns a field's value, or `null` for none. */
    readonly get: (name: string) => string | null;
  };
  /** Read chunk by chunk if it is a web stream; if not, `arrayBuffer` is called. */
  readonly body: unknown;
  /** Returns the whole body. */
  readonly arrayBuffer: () => Promise<ArrayBuffer>;
};

/** What can be set for a client and for a call. */
export type Limits = {
  /**
   * Time limit of one attempt, from the request to the last byte of the response, in milliseconds.
   * Default: 10_000 (10 seconds), also for a value that is not a positive number. More than
   * 2_147_483_647 (24.8 days, the longest timer), `Infinity` included, counts as that. An attempt that
   * exceeds it is repeated like one that failed in the network.
   */
  readonly attemptTimeoutMs?: number | undefined;
  /**
   * Time limit of a call, with the waits for headers and a token, all attempts and the waits between
   * them, in milliseconds. Default: 30_000 (30 seconds); bounds as for `attemptTimeoutMs`.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Maximum number of retries after a network failure, an attempt that timed out, or one of the
   * statuses 408, 429, 502, 503 and 504. Default: 3, also for a value that is not a number or is below
   * 0; 0 turns retries off. Creating is idempotent, so a repeated request is safe; behind a gateway
   * that makes it otherwise, turn retries off.
   */
  readonly retries?: number | undefined;
};

/**
 * How a client reaches its plant store. A wrong option does not throw: the calls return the error.
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
export type ClientOptions = Limits & {
  /**
   * Where the service is: an absolute http or https URL without user info, query or fragment. A path
   * is kept, a trailing slash makes no difference. Required. Source: the specification's "Base address".
   */
  readonly baseUrl: string;
  /**
   * The bearer token, an RFC 6750 b64token without the word `Bearer`, or a sync or async function that
   * returns one. Required. The function is called at the start of a call, once for all calls that wait
   * at that time, and after a 401 once more with `refresh: true`; if it throws, the error is
   * `token-failed`. A token never shows in an error or in the client. Source: the specification's
   * "Authentication".
   */
  readonly token: string | ((request: TokenRequest) => string | Promise<string>);
  /**
   * Further request headers, such as a gateway's key. `Authorization` and `Content-Type` are always the
   * client's own. Default: none. Their values are not redacted.
   */
  readonly headers?: RequestHeaders | undefined;
  /**
   * The function that sends the requests. Default: `globalThis.fetch`, looked up at each call. It is
   * called without a `this`, with `redirect: 'manual'`.
   */
  readonly fetch?: ((url: string, init: FetchInit) => Promise<FetchResponse>) | undefined;
  /**
   * Longest wait before the first retry, in milliseconds; it doubles for each further one. The wait
   * is a random share of it ("full jitter"), on top of the response's `Retry-After`, if any. Where it
   * would exceed the call's time limit, the call ends at once. Default: 200; 0 waits only as
   * `Retry-After` asks.
   */
  readonly retryDelayMs?: number | undefined;
  /** What `retryDelayMs` doubles to at most, in milliseconds. Default: 5_000. */
  readonly maxRetryDelayMs?: number | undefined;
  /** The source of the random shares, each from 0 to 1. Default: `Math.random`. For tests. */
  readonly random?: (() => number) | undefined;
  /**
   * Called before the wait for each retry. Not awaited, and its failure is ignored. Default: none.
   */
  readonly onRetry?: ((retry: Retry) => unknown) | undefined;
};

/** The limits as numbers. */
export type Numbers = Required<{ readonly [Name in keyof Limits]: number }>;

/** The options as they were when the client was created. */
export type Settings = Numbers & {
  /** Where plants are created, or `undefined` where `baseUrl` is wrong. */
  readonly url: string | undefined;
  /** The token, or the function that returns it. */
  readonly token: unknown;
  /** Asks the token function, if there is one. */
  readonly askToken: AskToken | undefined;
  readonly headers: unknown;
  readonly fetch: unknown;
  readonly retryDelayMs: number;
  readonly maxRetryDelayMs: number;
  readonly random: unknown;
  readonly onRetry: unknown;
};

const readNumber = (options: unknown, key: string, fallback: number, least = 0): number => {
  const value = readMember(options, key);
  // No timer can be longer.
  return typeof value === 'number' && value >= least ? Math.min(value, 2 ** 31 - 1) : fallback;
};

/** Reads the limits of a client or of a call. */
export const readLimits = (options: unknown, fallback: Numbers): Numbers => ({
  attemptTimeoutMs: readNumber(
    options,
    'attemptTimeoutMs',
    fallback.attemptTimeoutMs,
    Number.MIN_VALUE,
  ),
  timeoutMs: readNumber(options, 'timeoutMs', fallback.timeoutMs, Number.MIN_VALUE),
  retries: readNumber(options, 'retries', fallback.retries),
});

export const readSettings = (options: unknown): Settings => {
  const token = readMember(options, 'token');
  return {
    url: plantsUrl(readMember(options, 'baseUrl')),
    token,
    askToken: tokenQuestion(token),
    headers: readMember(options, 'headers'),
    fetch: readMember(options, 'fetch'),
    ...readLimits(options, { attemptTimeoutMs: 10_000, timeoutMs: 30_000, retries: 3 }),
    retryDelayMs: readNumber(options, 'retryDelayMs', 200),
    maxRetryDelayMs: readNumber(options, 'maxRetryDelayMs', 5_000),
    random: readMember(options, 'random') ?? Math.random,
    onRetry: readMember(options, 'onRetry'),
  };
};
