/**
 * `@plantstore/core/errors`: the numbers, statuses and messages of a plant store's errors.
 *
 * @module
 */

import { operation } from './operation.ts';

/**
 * Every error that a plant store can return: its number (`error` in the response body, an int32
 * whose meaning never changes), its HTTP status and its message. The keys are the names to switch
 * on in code.
 *
 * @example
 * ```ts
 * import { errorTable } from '@plantstore/core/errors';
 *
 * const { error, message } = errorTable['id-taken']; // 1401, 'another plant has this id'
 * ```
 */
export const errorTable = {
  'bad-request': row(1000, 400, 'the request is not valid HTTP'),
  'body-missing': row(1001, 400, 'a JSON body is required'),
  'json-malformed': row(1002, 400, 'the body is not valid JSON, or is nested too deeply'),
  'encoding-invalid': row(1003, 400, 'the body is not valid UTF-8'),
  'body-not-object': row(1004, 400, 'the body must be a JSON object'),
  'id-required': row(1101, 400, 'id is required'),
  'id-not-integer': row(1102, 400, 'id must be an exact integer'),
  'id-out-of-range': row(1103, 400, 'id must be from -9223372036854775808 to 9223372036854775807'),
  'name-required': row(1201, 400, 'name is required'),
  'name-not-text': row(1202, 400, 'name must be a string of Unicode text without U+0000'),
  'tag-not-text': row(1301, 400, 'tag must be a string of Unicode text without U+0000, or absent'),
  'id-taken': row(1401, 400, 'another plant has this id'),
  unauthenticated: row(2401, 401, 'a bearer token is required'),
  'token-rejected': row(2402, 401, 'the bearer token is not accepted'),
  'path-unknown': row(2404, 404, 'there is nothing at this path'),
  'method-not-allowed': row(2405, 405, `only ${operation.method} is allowed here`),
  'request-timeout': row(2408, 408, 'the request took too long to arrive'),
  'body-too-large': row(2413, 413, 'the body is too large'),
  'media-type-unsupported': row(
    2415,
    415,
    'the body must be application/json without a content encoding',
  ),
  'expectation-failed': row(2417, 417, 'the only expectation that can be met is 100-continue'),
  'headers-too-large': row(2431, 431, 'the request headers are too large'),
  'not-implemented': row(2501, 501, 'the method or transfer encoding is not implemented'),
  internal: row(3500, 500, 'something went wrong in the service'),
  unavailable: row(3503, 503, 'the service cannot take the plant now, try again later'),
} as const;

/**
 * An error: its number in the body, its HTTP status, and a sentence for people without a full stop.
 */
function row<const Number extends number>(error: Number, status: number, message: string) {
  return { error, status, message } as const;
}

/** The name of an error in the {@link errorTable}. */
export type ErrorName = keyof typeof errorTable;

/**
 * Returns whether an error number is a refusal by a custom rule of the repository or its database:
 * an integer from 4000 to 4999, which the {@link errorTable} does not use. Its status is 400.
 *
 * @example
 * ```ts
 * import { isRefusal } from '@plantstore/core/errors';
 *
 * isRefusal(4001); // true
 * isRefusal(1401); // false
 * ```
 */
export function isRefusal(error: number): boolean {
  return Number.isInteger(error) && error >= 4000 && error <= 4999;
}

/**
 * The number and the message of the refusal by a database that does not accept the content of a
 * plant, because of a constraint, an index, a type, a trigger or a policy that its operator added.
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
