import type { CreatePlantError, Report } from './errors.ts';
import type { TokenRequest } from './token.ts';

/**
 * Options of `createClient`. An invalid option does not throw: each call returns an error.
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
   * URL of the service: an absolute http or https URL without user info, query or fragment, as a
   * string or `URL`. Its path is kept; a trailing slash makes no difference. Required. Source: the
   * specification's "Base address".
   */
  readonly baseUrl: string | URL;
  /**
   * The bearer token, an RFC 6750 b64token without the word `Bearer`, or a sync or async function
   * that returns one. Required. The function is called at the start of a call, once for all calls
   * that wait at that time, and with `refresh: true` once for each token that was rejected with
   * 401. The result of that, also a failure, serves for one second. It is called again if it takes
   * longer than `timeoutMs`, or than a call that waits for it. If it throws, the error is
   * `token-failed`. The token is redacted in errors and is not a property of the client. Source:
   * the specification's "Authentication".
   */
  readonly token: string | ((request: TokenRequest) => string | Promise<string>);
  /**
   * Additional request headers, such as an API key of a gateway. They cannot replace
   * `Authorization` and `Content-Type`. Their values are not redacted. Default: none.
   */
  readonly headers?: RequestHeaders | undefined;
  /**
   * The function that sends requests, called with `redirect: 'manual'` and without a `this`.
   * Default: `globalThis.fetch`, looked up at each call.
   */
  readonly fetch?: ((url: string, init: FetchInit) => Promise<FetchResponse>) | undefined;
  /**
   * Called before the wait for each retry. It is not awaited, and its errors are ignored. Default:
   * none.
   */
  readonly onRetry?: ((retry: Retry) => unknown) | undefined;
};

/**
 * Options of a single call. The defaults of its limits are those of the client.
 *
 * @example
 * ```ts
 * import type { CreatePlantOptions } from '@plantstore/client';
 *
 * const controller = new AbortController();
 * export const options: CreatePlantOptions = { signal: controller.signal, timeoutMs: 5_000 };
 * ```
 */
export type CreatePlantOptions = Limits & {
  /** Aborts the call in any phase, with the error `aborted`. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Additional request headers, which replace those of the client with the same name. Default:
   * none.
   */
  readonly headers?: RequestHeaders | undefined;
  /**
   * Called before the call settles, with a plant or an error. It is not awaited, and its errors are
   * ignored. Default: none.
   */
  readonly onSettled?: ((report: Report) => unknown) | undefined;
};

/** Options that can be set for a client and for a call. */
export type Limits = {
  /**
   * Time limit of one attempt, from the request to the last byte of the response, in milliseconds.
   * Default: 10_000 (10 seconds), also for a value that is not a positive number. More than
   * 2_147_483_647 (24.8 days, the longest timer), including `Infinity`, counts as that. An attempt
   * that exceeds the limit is retried, like a network failure.
   */
  readonly attemptTimeoutMs?: number | undefined;
  /**
   * Time limit of a call, in milliseconds. It includes the waits for headers and a token, all
   * attempts, and the waits between them. Default: 30_000 (30 seconds); bounds as for
   * `attemptTimeoutMs`.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Maximum number of retries after a network failure, an attempt that timed out, or one of the
   * statuses 408, 429, 502, 503 and 504. Default: 3, also for a value that is not a number or is
   * below 0; 0 turns retries off. Creating is idempotent, so a retry is safe; turn retries off
   * behind a gateway that makes it non-idempotent.
   */
  readonly retries?: number | undefined;
  /**
   * Maximum backoff before the first retry, in milliseconds. It doubles for each further retry. The
   * actual wait is a random share of it ("full jitter"), plus the response's `Retry-After`, if any.
   * If the wait would exceed the time limit of the call, the call ends at once. Default: 200; with
   * 0, the client waits only for `Retry-After`.
   */
  readonly retryDelayMs?: number | undefined;
  /** Limit of the doubled `retryDelayMs`, in milliseconds. Default: 5_000. */
  readonly maxRetryDelayMs?: number | undefined;
};

/**
 * Argument of `onRetry`.
 *
 * @example
 * ```ts
 * import type { Retry } from '@plantstore/client';
 *
 * export const sentence = ({ attempts, waitMs, error }: Retry): string =>
 *   `attempt ${attempts}: ${error.message}; the next one starts in ${Math.round(waitMs)} ms`;
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
type Fields = { readonly [name: string]: string | null | undefined } | Headers;

/**
 * Header fields to send, as an object or `Headers`, or a function that returns them and is called
 * once for each call. A field whose value is `undefined` or `null` is omitted.
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
  /**
   * The body. Read in chunks if it is a web stream or an async iterable; otherwise `arrayBuffer` is
   * called.
   */
  readonly body: unknown;
  /**
   * Whether the body has been read. Then the call ends with `response-invalid`. Default: `false`.
   */
  readonly bodyUsed?: boolean | undefined;
  /**
   * Whether `fetch` followed a redirect, which is no success. Default: whether `url` is another
   * one.
   */
  readonly redirected?: boolean | undefined;
  /** The URL of the response, used if there is no `redirected`. Default: that of the request. */
  readonly url?: string | undefined;
  /** Returns the whole body. */
  readonly arrayBuffer: () => Promise<ArrayBuffer>;
};
