import type { ErrorName as CoreErrorName, errorTable } from '@plantstore/core/errors';
import type { Result } from 'neverthrow';
import type { Plant } from './plant.ts';

/**
 * The report of a call in its error and to `onSettled`. What a call does not have is missing, so
 * `undefined`.
 */
export type Report = {
  /** Number of requests started; 0 if the call ended before the first. */
  readonly attempts: number;
  /**
   * The HTTP status of the last attempt's response, if one started. With 200 of a plant store, the
   * plant is stored, even if the response is incomplete.
   */
  readonly status?: number;
  /**
   * The `X-Request-Id` of that response, if it has one; it identifies the request in the log of the
   * service.
   */
  readonly requestId?: string;
  /**
   * The delay of that response's `Retry-After`, if it has a valid one that can be read, in
   * milliseconds; 0 if it is in the past.
   */
  readonly retryAfterMs?: number;
};

type Failed = Report & {
  /**
   * A short sentence for people, without a full stop. A text of the service or of a cause is
   * truncated to 4096 characters before the token is redacted in it. Switch on `kind` in code.
   */
  readonly message: string;
};

type Responded = Failed & { readonly status: number };

/**
 * The error for an error response of the service; `message` is that of the response.
 *
 * @interface
 */
export type Refused = Responded & {
  readonly kind: 'refused';
  /**
   * The name in the error table, `'plant-refused'` for a rule of the service (a number from 4000 to
   * 4999), or `'unknown'` for a number that this version does not have.
   */
  readonly name: ErrorName | 'plant-refused' | 'unknown';
  /** The error's number, an int32. */
  readonly error: number;
};

/**
 * The error for an invalid argument or option: nothing was sent. `message` names it and its rule.
 *
 * @interface
 */
export type RequestInvalid = Failed & {
  readonly kind: 'request-invalid';
  /**
   * The argument or option that is invalid.
   *
   * `id-not-exact`: the id is neither a `bigint` in the range of int64 nor a safe integer number.
   * `plant-unwritable`: the plant cannot be written as JSON.
   * `base-url-invalid`: `baseUrl` is not an absolute http(s) URL, or has user info, a query or
   * fragment.
   * `headers-invalid`: `headers` are not valid header fields, or their function failed.
   * `signal-invalid`: `signal` is not an `AbortSignal`.
   * `fetch-invalid`: `fetch` is not a function, or this runtime lacks it or another API that the
   * client needs.
   */
  readonly reason:
    | 'id-not-exact'
    | 'plant-unwritable'
    | 'base-url-invalid'
    | 'headers-invalid'
    | 'signal-invalid'
    | 'fetch-invalid';
  /** Description of what the `headers` function threw, or the name of the field that is wrong. */
  readonly cause?: CauseDescription;
};

/**
 * The error for a missing token: it is not an RFC 6750 b64token, or its function threw an error, as
 * `message` states. That error is omitted, because it may contain a credential.
 *
 * @interface
 */
export type TokenFailed = Failed & { readonly kind: 'token-failed' };

/**
 * The error for a response with a status other than 200 and no error of the service, such as a
 * redirect, which is not followed; `message` has its `Location`. The status is 0 if a browser hides
 * a redirect.
 *
 * @interface
 */
export type UnexpectedStatus = Responded & {
  readonly kind: 'unexpected-status';
  /**
   * The raw body, with `***` for each word that contains the token, truncated to 4096 characters
   * before.
   */
  readonly body: string;
};

/**
 * The error for a response that violates the contract: a 200 without the plant that was sent, or
 * after a redirect that `fetch` followed, or a 400 without an error. After a 200, `message` names
 * the member that differs: an older server drops a later member. It is the error, too, for any
 * response whose body the option `fetch` has read or locked.
 *
 * @interface
 */
export type ResponseInvalid = Responded & {
  readonly kind: 'response-invalid';
  /**
   * The raw body, with `***` for each word that contains the token, truncated to 4096 characters
   * before.
   */
  readonly body: string;
};

/**
 * The error for an incomplete response: `fetch` failed, or the body ended early. `message` contains
 * the message of the innermost cause that has a text as its message.
 *
 * @interface
 */
export type NetworkFailed = Failed & {
  readonly kind: 'network';
  /** Description of the error that `fetch` or the body threw. */
  readonly cause: CauseDescription;
};

/**
 * The error for a call that exceeded `timeoutMs`, or whose last attempt exceeded
 * `attemptTimeoutMs`.
 *
 * @interface
 */
export type TimedOut = Failed & {
  readonly kind: 'timeout';
  /**
   * The phase of the timeout: the wait for the `headers` function, the token function, or the
   * response.
   */
  readonly phase: 'request-headers' | 'token' | 'response';
};

/**
 * The error for a call that the caller's signal aborted.
 *
 * @interface
 */
export type Aborted = Failed & {
  readonly kind: 'aborted';
  /** Description of the signal's reason. */
  readonly cause: CauseDescription;
};

/**
 * The error of a call: a closed union of plain data without the token. Switch on `kind`. With 0
 * `attempts`, nothing was sent. After `refused` with a status below 500, the last attempt stored
 * nothing; an earlier attempt whose response was lost may have stored the plant, or may still do
 * so. After any other error the plant may be stored. Creating it again is safe.
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

/** The name of each error number in the error table of core. */
export const errorNames = {
  1000: 'bad-request',
  1001: 'body-missing',
  1002: 'json-malformed',
  1003: 'encoding-invalid',
  1004: 'body-not-object',
  1101: 'id-required',
  1102: 'id-not-integer',
  1103: 'id-out-of-range',
  1201: 'name-required',
  1202: 'name-not-text',
  1301: 'tag-not-text',
  1401: 'id-taken',
  2401: 'unauthenticated',
  2402: 'token-rejected',
  2404: 'path-unknown',
  2405: 'method-not-allowed',
  2408: 'request-timeout',
  2413: 'body-too-large',
  2415: 'media-type-unsupported',
  2417: 'expectation-failed',
  2431: 'headers-too-large',
  2501: 'not-implemented',
  3500: 'internal',
  3503: 'unavailable',
} as const satisfies {
  readonly [Name in CoreErrorName as (typeof errorTable)[Name]['error']]: Name;
};

/** The name of an error that the service can return. */
export type ErrorName = (typeof errorNames)[keyof typeof errorNames];

/** Description of a thrown value, as plain data without the token; at most four causes deep. */
export type CauseDescription = {
  /** Name of the error, such as `TypeError`, or type of a value that is not an error. */
  readonly name: string;
  /** Message of the error, or the value as a string. */
  readonly message: string;
  /** Code of the error, such as `ECONNREFUSED`, if it has one. */
  readonly code?: string;
  /**
   * Description of the error's `cause`, or of the last error of an `AggregateError`, if there is
   * one.
   */
  readonly cause?: CauseDescription;
};

export type Outcome = Result<Plant, CreatePlantError>;

/** An outcome that is no plant. */
export type Failure = Result<never, CreatePlantError>;
