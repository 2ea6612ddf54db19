import type { CauseDescription } from './describe-cause.ts';
import type { ErrorName } from './error-names.ts';

type Attempted = {
  /**
   * A short sentence for people, without a full stop. A text of the service or of a cause is truncated to
   * 4096 characters before the token is redacted in it. Switch on `kind` in code.
   */
  readonly message: string;
  /** Number of requests started; 0 if the call ended before the first. */
  readonly attempts: number;
};

type Responded = Attempted & {
  /** The HTTP status. */
  readonly status: number;
  /** The response's `X-Request-Id`, if it has one; it identifies the request in the log of the service. */
  readonly requestId?: string;
};

/**
 * The error for an error response of the service; `message` is that of the response.
 *
 * @interface
 */
export type Refused = Responded & {
  readonly kind: 'refused';
  /**
   * The name in the error table, `'plant-refused'` for a rule of the service (a number from 4000 to 4999), or `'unknown'`
   * for a number that this version does not have.
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
export type RequestInvalid = Attempted & {
  readonly kind: 'request-invalid';
  /**
   * The argument or option that is invalid.
   *
   * `id-not-exact`: the id is neither a `bigint` in the range of int64 nor a safe integer number.
   * `plant-unwritable`: the plant cannot be written as JSON.
   * `base-url-invalid`: `baseUrl` is not an absolute http(s) URL, or has user info, a query or fragment.
   * `headers-invalid`: `headers` are not valid header fields, or their function failed.
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
 * The error for a missing token: it is not an RFC 6750 b64token, or its function failed. The error that the
 * function threw is omitted, because it may contain a credential.
 *
 * @interface
 */
export type TokenFailed = MaybeResponded & { readonly kind: 'token-failed' };

/**
 * The error for a response with a status other than 200 and no error of the service, such as a redirect,
 * which is not followed. The status is 0 if a browser hides a redirect.
 *
 * @interface
 */
export type UnexpectedStatus = Responded & {
  readonly kind: 'unexpected-status';
  /** The raw body, with `***` for each word that contains the token, truncated to 4096 characters before. */
  readonly body: string;
};

/**
 * The error for a response that violates the contract: a 200 without the plant that was sent, or a 400 without
 * an error. After a 200, `message` names the member that differs: an older server does not know a later member.
 *
 * @interface
 */
export type ResponseInvalid = Responded & {
  readonly kind: 'response-invalid';
  /** The raw body, with `***` for each word that contains the token, truncated to 4096 characters before. */
  readonly body: string;
};

/** With the status 200 of a plant store, the plant is stored, even if the response is incomplete. */
type MaybeResponded = Attempted & Partial<Pick<Responded, 'status' | 'requestId'>>;

/**
 * The error for an incomplete response: `fetch` failed, or the body ended early. `message` contains the
 * message of the innermost cause that has a text as its message.
 *
 * @interface
 */
export type NetworkFailed = MaybeResponded & {
  readonly kind: 'network';
  /** Description of the error that `fetch` or the body threw. */
  readonly cause: CauseDescription;
};

/**
 * The error for a call that exceeded `timeoutMs`, or whose last attempt exceeded `attemptTimeoutMs`.
 *
 * @interface
 */
export type TimedOut = MaybeResponded & {
  readonly kind: 'timeout';
  /** The phase of the timeout: the wait for the `headers` function, the token function, or the response. */
  readonly phase: 'request-headers' | 'token' | 'response';
};

/**
 * The error for a call that the caller's signal aborted.
 *
 * @interface
 */
export type Aborted = MaybeResponded & {
  readonly kind: 'aborted';
  /** Description of the signal's reason. */
  readonly cause: CauseDescription;
};

/**
 * The error of a call: a closed union of plain data without the token. Switch on `kind`. With 0
 * `attempts`, nothing was sent. After `refused` with a status below 500, the last attempt stored nothing; an
 * earlier attempt whose response was lost may have stored the plant, or may still do so. After any other
 * error the plant may be stored. Creating it again is safe.
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
