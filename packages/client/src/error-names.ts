import type { ErrorName as CoreErrorName, errorTable } from '@plantstore/core/errors';

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
