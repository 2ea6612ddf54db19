import type { ErrorName } from '@plantstore/core/errors';
import type { CauseDescription } from './describe-cause.ts';

type Attempted = {
  /** For people: a short sentence without a full stop. Switch on `kind` instead. */
  readonly message: string;
  /** The requests that were started: 0 for what ended before the first. */
  readonly attempts: number;
};

/**
 * The service answered an error of its own; `message` is the service's.
 *
 * @interface
 */
export type Refused = Attempted & {
  readonly kind: 'refused';
  /** The error's name in the error table, `'unknown'` for a number that this version does not know. */
  readonly name: ErrorName | 'unknown';
  /** The error's number, an int32. */
  readonly error: number;
  /** The HTTP status, 400 or more. */
  readonly status: number;
};

/**
 * Refused before sending: an argument or option is wrong.
 *
 * @interface
 */
export type RequestInvalid = Attempted & {
  readonly kind: 'request-invalid';
  /**
   * `id-not-exact`: the id is no `bigint` in int64's range and no safe integer number.
   * `plant-unwritable`: the plant cannot be written as JSON.
   * `base-url-invalid`: `baseUrl` is no absolute http(s) URL, or has user info, a query or fragment.
   * `signal-invalid`: `signal` is no `AbortSignal`.
   * `fetch-invalid`: `fetch` is no function, or this runtime has none.
   */
  readonly reason:
    'id-not-exact' | 'plant-unwritable' | 'base-url-invalid' | 'signal-invalid' | 'fetch-invalid';
};

/**
 * There is no token that could be sent: it is no RFC 6750 b64token, or the function that should give it
 * failed. Nothing of what it threw is here, for that may hold a credential.
 *
 * @interface
 */
export type TokenFailed = Attempted & { readonly kind: 'token-failed' };

/**
 * The answer has another status than 200 and no error of the service; a redirect is not followed.
 *
 * @interface
 */
export type UnexpectedStatus = Attempted & {
  readonly kind: 'unexpected-status';
  /** The HTTP status; 0 where a browser hides a redirect. */
  readonly status: number;
  /** The raw body, with `***` for each word that has the token in it; an over-long one is cut off. */
  readonly body: string;
};

/**
 * The answer breaks the contract: a 200 that is no plant, or a 400 that is no error.
 *
 * @interface
 */
export type ResponseInvalid = Attempted & {
  readonly kind: 'response-invalid';
  /** The HTTP status, 200 or 400. */
  readonly status: number;
  /** The raw body, with `***` for each word that has the token in it; an over-long one is cut off. */
  readonly body: string;
};

type MaybeAnswered = Attempted & {
  /** The HTTP status, where an answer had begun: after a plant store's 200 the plant is stored. */
  readonly status?: number;
};

/**
 * No whole answer: `fetch` failed, or the body broke off.
 *
 * @interface
 */
export type NetworkFailed = MaybeAnswered & {
  readonly kind: 'network';
  /** Describes what `fetch` or the body threw. */
  readonly cause: CauseDescription;
};

/**
 * No whole answer within `attemptTimeoutMs`, the last time, or `timeoutMs`.
 *
 * @interface
 */
export type TimedOut = MaybeAnswered & { readonly kind: 'timeout' };

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
 * attempt stored nothing; an earlier one, whose answer was lost, may have, or will. After any other the
 * plant may be stored, and to create it again is safe.
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
