import type { BodyUndecodable } from '@plantstore/core/wire';
import type { CreatePlantError, Plant } from '@plantstore/core';
import { errorMessages, type ErrorName, errorTable } from '@plantstore/core/errors';

/** Header fields, in order, each a name and a value. */
export type Headers = readonly (readonly [name: string, value: string])[];

/** An HTTP response as plain data. */
export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** The error that the body tells, by its name in the error table. */
  readonly error?: ErrorName;
  /** Why, for the log; never part of the response. */
  readonly cause?: unknown;
};

const always: Headers = [
  ['Content-Type', 'application/json'],
  ['Cache-Control', 'no-store'],
  ['X-Content-Type-Options', 'nosniff'],
];

const jsonAnswer = (status: number, body: string, headers: Headers = []): Answer => ({
  status,
  headers: [...always, ['Content-Length', String(Buffer.byteLength(body))], ...headers],
  body,
});

const headersOf = (name: ErrorName, retryAfterSeconds: number): Headers => {
  switch (name) {
    case 'unauthenticated':
      return [['WWW-Authenticate', 'Bearer realm="plantstore"']];
    case 'token-rejected':
      return [['WWW-Authenticate', 'Bearer realm="plantstore", error="invalid_token"']];
    case 'unavailable':
      return [['Retry-After', String(retryAfterSeconds)]];
    default:
      return [];
  }
};

type ErrorDetails = {
  readonly message?: string;
  readonly headers?: Headers;
  readonly cause?: unknown;
  /** After how many seconds a client may try again, where it may (RFC 9110 §10.2.3). Default is 1. */
  readonly retryAfterSeconds?: number;
};

/** The answer for an error of the table. */
export const errorAnswer = (name: ErrorName, details: ErrorDetails = {}): Answer => {
  const { message = errorMessages[name], headers = [], cause, retryAfterSeconds = 1 } = details;
  const { error, status } = errorTable[name];
  const body = JSON.stringify({ error, message });
  return {
    ...jsonAnswer(status, body, [...headersOf(name, retryAfterSeconds), ...headers]),
    error: name,
    ...(cause !== undefined && { cause }),
  };
};

/** The answer for a plant that is in the store. */
export const plantAnswer = ({ name, tag }: Plant): Answer =>
  jsonAnswer(200, JSON.stringify({ name, tag }));

/** The answer for a plant that is not. */
export const failureAnswer = (error: BodyUndecodable | CreatePlantError): Answer => {
  switch (error.kind) {
    case 'plant-invalid': {
      const { faults } = error;
      return errorAnswer(faults[0], {
        message: faults.map((fault) => errorMessages[fault]).join('; '),
      });
    }
    case 'store-unavailable':
      return errorAnswer('unavailable', { cause: { reason: error.reason, cause: error.cause } });
    case 'id-taken':
    case 'body-missing':
    case 'encoding-invalid':
    case 'json-malformed':
      return errorAnswer(error.kind);
  }
};
