import type { CreatePlantError } from './create-plant-error.ts';
import { readMember } from './untrusted.ts';
import { plantsUrl } from './plants-url.ts';
import { type GetToken, type TokenRequest, tokenGetter, validToken } from './token-source.ts';

/**
 * Argument of `onRetry`.
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
  /** Number of requests started so far. */
  readonly attempts: number;
  /** Wait before the next attempt, in milliseconds. */
  readonly waitMs: number;
  /** The error of the last attempt. */
  readonly error: CreatePlantError;
};

/** @inline */
type Fields = { readonly [name: string]: string } | Headers;

/**
 * Header fields to send, as an object or `Headers`, or a function that returns them and is called once for each call.
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
 * Options that the client passes to `fetch`; assignable to every `RequestInit`.
 *
 * @interface
 */
export type FetchInit = {
  /** Always `POST`. */
  readonly method: 'POST';
  /** The header fields, with names in lowercase; `authorization` contains the token. */
  readonly headers: Record<string, string>;
  /** The plant as JSON. */
  readonly body: string;
  /** Redirects are not followed. */
  readonly redirect: 'manual';
  /** Aborts when the attempt ends. */
  readonly signal: AbortSignal;
};

/**
 * The members of a response that the client uses.
 *
 * @interface
 */
export type FetchResponse = {
  /** The HTTP status. */
  readonly status: number;
  /** The header fields. */
  readonly headers: {
    /** Returns the value of a field, or `null` if the field is missing. */
    readonly get: (name: string) => string | null;
  };
  /** The body. Read in chunks if it is a web stream; otherwise `arrayBuffer` is called. */
  readonly body: unknown;
  /** Returns the whole body. */
  readonly arrayBuffer: () => Promise<ArrayBuffer>;
};

/** Options that can be set for a client and for a call. */
export type Limits = {
  /**
   * Time limit of one attempt, from the request to the last byte of the response, in milliseconds.
   * Default: 10_000 (10 seconds), also for a value that is not a positive number. More than
   * 2_147_483_647 (24.8 days, the longest timer), including `Infinity`, counts as that. An attempt that
   * exceeds the limit is retried, like a network failure.
   */
  readonly attemptTimeoutMs?: number | undefined;
  /**
   * Time limit of a call, in milliseconds. It includes the waits for headers and a token, all attempts, and
   * the waits between them. Default: 30_000 (30 seconds); bounds as for `attemptTimeoutMs`.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Maximum number of retries after a network failure, an attempt that timed out, or one of the
   * statuses 408, 429, 502, 503 and 504. Default: 3, also for a value that is not a number or is below
   * 0; 0 turns retries off. Creating is idempotent, so a retry is safe; turn retries off behind a gateway
   * that makes it non-idempotent.
   */
  readonly retries?: number | undefined;
  /**
   * Maximum backoff before the first retry, in milliseconds. It doubles for each further retry. The
   * actual wait is a random share of it ("full jitter"), plus the response's `Retry-After`, if any. If the
   * wait would exceed the time limit of the call, the call ends at once. Default: 200; with 0, the client
   * waits only for `Retry-After`.
   */
  readonly retryDelayMs?: number | undefined;
  /** Limit of the doubled `retryDelayMs`, in milliseconds. Default: 5_000. */
  readonly maxRetryDelayMs?: number | undefined;
};

/**
 * Options of {@link createClient}. An invalid option does not throw: each call returns an error.
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
   * URL of the service: an absolute http or https URL without user info, query or fragment. Its path is
   * kept; a trailing slash makes no difference. Required. Source: the specification's "Base address".
   */
  readonly baseUrl: string;
  /**
   * The bearer token, an RFC 6750 b64token without the word `Bearer`, or a sync or async function that
   * returns one. Required. The function is called at the start of a call, once for all calls that wait
   * at that time, and once for each token that was rejected with 401, with `refresh: true`. The result of
   * that, also a failure, serves for one second. It is called again if it takes longer than `timeoutMs`. If it
   * throws, the error is `token-failed`. The token is redacted in errors and is not a property of the client.
   * Source: the specification's "Authentication".
   */
  readonly token: string | ((request: TokenRequest) => string | Promise<string>);
  /**
   * Additional request headers, such as an API key of a gateway. They cannot replace `Authorization` and
   * `Content-Type`. Their values are not redacted. Default: none.
   */
  readonly headers?: RequestHeaders | undefined;
  /**
   * The function that sends requests, called with `redirect: 'manual'` and without a `this`. Default:
   * `globalThis.fetch`, looked up at each call.
   */
  readonly fetch?: ((url: string, init: FetchInit) => Promise<FetchResponse>) | undefined;
  /**
   * Called before the wait for each retry. It is not awaited, and its errors are ignored. Default: none.
   */
  readonly onRetry?: ((retry: Retry) => unknown) | undefined;
};

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
  readonly headers: unknown;
  readonly fetch: unknown;
  readonly limits: Numbers;
  readonly onRetry: unknown;
};

export const defaultLimits: Numbers = {
  attemptTimeoutMs: 10_000,
  timeoutMs: 30_000,
  retries: 3,
  retryDelayMs: 200,
  maxRetryDelayMs: 5_000,
};

/** Returns the limits of a client or of a call; each that is missing or invalid is that of `fallback`. */
export const readLimits = (options: unknown, fallback = defaultLimits): Numbers => {
  const read = (key: keyof Numbers): [string, number] => {
    const value = readMember(options, key);
    const isValid =
      typeof value === 'number' && (value > 0 || (value === 0 && !/timeout/i.test(key)));
    // No timer can be longer.
    return [key, isValid ? Math.min(value, 2 ** 31 - 1) : fallback[key]];
  };
  return Object.fromEntries((Object.keys(defaultLimits) as (keyof Numbers)[]).map(read)) as Numbers;
};

export const readSettings = (options: unknown): Settings => {
  const token = readMember(options, 'token');
  const limits = readLimits(options);
  return {
    url: plantsUrl(readMember(options, 'baseUrl')),
    token: validToken(token),
    getToken: tokenGetter(token, limits.timeoutMs),
    headers: readMember(options, 'headers'),
    fetch: readMember(options, 'fetch'),
    limits,
    onRetry: readMember(options, 'onRetry'),
  };
};
