import type { CauseDescription } from './describe-cause.ts';
import type { ErrorName } from './error-names.ts';

type Attempted = {
  /** For people: a short sentence without a full stop. Switch on `kind` instead. */
  readonly message: string;
  /** The requests that were started: 0 if the call ended before the first. */
  readonly attempts: number;
};

type Answered = Attempted & {
  /** The HTTP status. */
  readonly status: number;
  /** The response's `X-Request-Id`, where it has one: the service's log has the request under it. */
  readonly requestId?: string;
};

/**
 * The service returned an error of its own; `message` is the service's.
 *
 * @interface
 */
export type Refused = Answered & {
  readonly kind: 'refused';
  /** The error's name in the error table, `'unknown'` for a number that this version does not know. */
  readonly name: ErrorName | 'unknown';
  /** The error's number, an int32. */
  readonly error: number;
};

/**
 * Refused before sending: an argument or option is wrong. `message` names it and its rule.
 *
 * @interface
 */
export type RequestInvalid = Attempted & {
  readonly kind: 'request-invalid';
  /**
   * `id-not-exact`: the id is neither a `bigint` in int64's range nor a safe integer number.
   * `plant-unwritable`: the plant cannot be written as JSON.
   * `base-url-invalid`: `baseUrl` is not an absolute http(s) URL, or has user info, a query or fragment.
   * `headers-invalid`: `headers` are not header fields, or their function failed.
   * `signal-invalid`: `signal` is not an `AbortSignal`.
   * `fetch-invalid`: `fetch` is not a function, or this runtime has none.
   */
  readonly reason:
    | 'id-not-exact'
    | 'plant-unwritable'
    | 'base-url-invalid'
    | 'headers-invalid'
    | 'signal-invalid'
    | 'fetch-invalid';
};

/**
 * There is no token to send: it is not an RFC 6750 b64token, or its function failed. What the function
 * threw is not repeated, as it may hold a credential.
 *
 * @interface
 */
export type TokenFailed = Attempted & { readonly kind: 'token-failed' };

/**
 * The response has another status than 200 and no error of the service; a redirect is not followed.
 * The status is 0 where a browser hides a redirect.
 *
 * @interface
 */
export type UnexpectedStatus = Answered & {
  readonly kind: 'unexpected-status';
  /** The raw body, with `***` for each word that contains the token; a too long one is cut off. */
  readonly body: string;
};

/**
 * The response breaks the contract: a 200 without a plant, or a 400 without an error.
 *
 * @interface
 */
export type ResponseInvalid = Answered & {
  readonly kind: 'response-invalid';
  /** The raw body, with `***` for each word that contains the token; a too long one is cut off. */
  readonly body: string;
};

/** After the status 200 of a plant store, the plant is stored, even if the rest is missing. */
type MaybeAnswered = Attempted & Partial<Pick<Answered, 'status' | 'requestId'>>;

/**
 * No complete response: `fetch` failed, or the body ended early. `message` has the innermost cause.
 *
 * @interface
 */
export type NetworkFailed = MaybeAnswered & {
  readonly kind: 'network';
  /** Describes what `fetch` or the body threw. */
  readonly cause: CauseDescription;
};

/**
 * The call took longer than `timeoutMs`, or its last attempt longer than `attemptTimeoutMs`.
 *
 * @interface
 */
export type TimedOut = MaybeAnswered & {
  readonly kind: 'timeout';
  /** What the call waited for: its `headers` function, its token function, or the response. */
  readonly phase: 'request-headers' | 'token' | 'response';
};

/**
 * The caller's signal aborted the call.
 *
 * @interface
 */
export type Aborted = MaybeAnswered & {
  readonly kind: 'aborted';
  /** Describes the signal's reason. */
  readonly cause: CauseDescription;
};

/**
 * Why a plant was not created, or is not known to be: closed, plain data, without the token. Switch on
 * `kind`. With `attempts` of 0 nothing was sent; a `refused` of a status below 500 says that the last
 * attempt stored nothing; an earlier one, whose response was lost, may have, or will. After any other
 * the plant may be stored, and to create it again is safe.
 *
 * @example
 * ```ts
 * import type { CreatePlantError } from '@plantstore/client';
 *
 * export const isTaken = (error: CreatePlantError): boolean =>
 *   error.kind === 'refused' && error.name === 'id-taken';
 * ```
 */
export type CreatePlantError =
  | Refused
  | RequestInvalid
  | TokenFailed
  | UnexpectedStatus
  | ResponseInvalid
  | NetworkFailed
  | TimedOut
  | Aborted;
