/**
 * `@plantstore/core/errors`: the numbers, statuses and messages of a plant store's errors.
 *
 * @module
 */

import { operation } from './operation.ts';

/** The number of an error in the response body, and its HTTP status. */
type ErrorRow = { readonly error: number; readonly status: number };

/**
 * Every error that a plant store can return: its number (`error` in the response body, an int32 whose
 * meaning never changes) and its HTTP status. The keys are the names to switch on in code.
 *
 * @example
 * ```ts
 * import { errorTable } from '@plantstore/core/errors';
 *
 * const { error, status } = errorTable['id-taken']; // 1401, 400
 * ```
 */
export const errorTable = {
  'bad-request': { error: 1000, status: 400 },
  'body-missing': { error: 1001, status: 400 },
  'json-malformed': { error: 1002, status: 400 },
  'encoding-invalid': { error: 1003, status: 400 },
  'body-not-object': { error: 1004, status: 400 },
  'id-required': { error: 1101, status: 400 },
  'id-not-integer': { error: 1102, status: 400 },
  'id-out-of-range': { error: 1103, status: 400 },
  'name-required': { error: 1201, status: 400 },
  'name-not-text': { error: 1202, status: 400 },
  'tag-not-text': { error: 1301, status: 400 },
  'id-taken': { error: 1401, status: 400 },
  unauthenticated: { error: 2401, status: 401 },
  'token-rejected': { error: 2402, status: 401 },
  'path-unknown': { error: 2404, status: 404 },
  'method-not-allowed': { error: 2405, status: 405 },
  'request-timeout': { error: 2408, status: 408 },
  'body-too-large': { error: 2413, status: 413 },
  'media-type-unsupported': { error: 2415, status: 415 },
  'expectation-failed': { error: 2417, status: 417 },
  'headers-too-large': { error: 2431, status: 431 },
  'not-implemented': { error: 2501, status: 501 },
  internal: { error: 3500, status: 500 },
  unavailable: { error: 3503, status: 503 },
} as const satisfies Record<string, ErrorRow>;

/** The name of an error in the {@link errorTable}. */
export type ErrorName = keyof typeof errorTable;

/**
 * Returns whether an error number is a refusal by a custom rule of the repository, or by its database: an integer from 4000
 * to 4999, a range that the {@link errorTable} does not use. Its status is 400.
 *
 * @example
 * ```ts
 * import { isRefusal } from '@plantstore/core/errors';
 *
 * isRefusal(4001); // true
 * isRefusal(1401); // false
 * ```
 */
export const isRefusal = (error: number): boolean =>
  Number.isInteger(error) && error >= 4000 && error <= 4999;

/**
 * The number and the message of the refusal by a database that does not accept the content of a plant, because
 * of a constraint, an index or a type that its operator added.
 *
 * @example
 * ```ts
 * import { databaseRefusal } from '@plantstore/core/errors';
 *
 * databaseRefusal.error; // 4000
 * ```
 */
export const databaseRefusal = {
  error: 4000,
  message: 'the database does not accept this plant',
} as const;

/**
 * The message of each error: a sentence for people, without a full stop.
 *
 * @example
 * ```ts
 * import { errorMessages } from '@plantstore/core/errors';
 *
 * errorMessages['id-required']; // 'id is required'
 * ```
 */
export const errorMessages: Readonly<Record<ErrorName, string>> = {
  'bad-request': 'the request is not valid HTTP',
  'body-missing': 'a JSON body is required',
  'json-malformed': 'the body is not valid JSON, or is nested too deeply',
  'encoding-invalid': 'the body is not valid UTF-8',
  'body-not-object': 'the body must be a JSON object',
  'id-required': 'id is required',
  'id-not-integer': 'id must be an exact integer',
  'id-out-of-range': 'id must be from -9223372036854775808 to 9223372036854775807',
  'name-required': 'name is required',
  'name-not-text': 'name must be a string of Unicode text without U+0000',
  'tag-not-text': 'tag must be a string of Unicode text without U+0000, or absent',
  'id-taken': 'another plant has this id',
  unauthenticated: 'a bearer token is required',
  'token-rejected': 'the bearer token is not accepted',
  'path-unknown': 'there is nothing at this path',
  'method-not-allowed': `only ${operation.method} is allowed here`,
  'request-timeout': 'the request took too long to arrive',
  'body-too-large': 'the body is too large',
  'media-type-unsupported': 'the body must be application/json without a content encoding',
  'expectation-failed': 'the only expectation that can be met is 100-continue',
  'headers-too-large': 'the request headers are too large',
  'not-implemented': 'the method or transfer encoding is not implemented',
  internal: 'something went wrong in the service',
  unavailable: 'the service cannot take the plant now, try again later',
};

/** A header field of responses. */
type HeaderRow = {
  readonly description: string;
  /** The possible values. Without them, the value is any text, or a number if it has a `minimum`. */
  readonly values?: readonly string[];
  readonly minimum?: number;
  /** The errors whose responses have it. Without them, every response has it. */
  readonly errors?: readonly ErrorName[];
  /** Whether only some of these responses have it. */
  readonly isOptional?: true;
};

/**
 * The header fields of the responses to `POST {base_url}/plants`, besides those of HTTP itself, such as
 * `Content-Type` and `Date`. The server takes the values from here, and `openapi.json` declares them.
 *
 * @example
 * ```ts
 * import { responseHeaders } from '@plantstore/core/errors';
 *
 * responseHeaders['Retry-After'].errors; // ['unavailable']
 * ```
 */
export const responseHeaders = {
  'X-Request-Id': { description: 'Identifies the request in the log' },
  'Cache-Control': { description: 'A response is not stored by caches', values: ['no-store'] },
  'X-Content-Type-Options': {
    description: 'Browsers do not guess another media type',
    values: ['nosniff'],
  },
  'WWW-Authenticate': {
    description: 'How to authenticate; the second value is for a token that is not accepted',
    values: ['Bearer realm="plantstore"', 'Bearer realm="plantstore", error="invalid_token"'],
    errors: ['unauthenticated', 'token-rejected'],
  },
  Accept: {
    description: 'The supported media type, if the request has another one',
    values: ['application/json'],
    errors: ['media-type-unsupported'],
    isOptional: true,
  },
  'Accept-Encoding': {
    description: 'The supported content coding, if the request has another one',
    values: ['identity'],
    errors: ['media-type-unsupported'],
    isOptional: true,
  },
  'Retry-After': {
    description: 'Seconds to wait before the next attempt',
    minimum: 1,
    errors: ['unavailable'],
  },
  Vary: {
    description: 'With CORS, except for HTTP that cannot be parsed',
    values: ['Origin'],
    isOptional: true,
  },
  'Access-Control-Allow-Origin': {
    description: 'With CORS: the origin of the request, if it is allowed',
    isOptional: true,
  },
  'Access-Control-Expose-Headers': {
    description: 'With CORS, if the origin is allowed: the header fields that a page may read',
    values: ['Retry-After, WWW-Authenticate, X-Request-Id'],
    isOptional: true,
  },
} as const satisfies Record<string, HeaderRow>;
