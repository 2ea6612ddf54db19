import { type BodyUndecodable, encodePlant } from '@plantstore/core/wire';
import type { CreatePlantError, Plant } from '@plantstore/core';
import { byteLength } from './byte-length.ts';
import { type ErrorName, errorTable, responseHeaders } from '@plantstore/core/errors';

/** Header fields as alternating names and values, the form that `node:http` writes fastest. */
export type Fields = readonly string[];

/** An HTTP response as plain data. */
export type ResponseData = {
  readonly status: number;
  readonly fields: Fields;
  readonly body: string;
  /** Whether the body is ASCII, which Node writes faster. Default: false. */
  readonly isAscii?: boolean;
  /** The error number in the body; `undefined` for a success. */
  readonly error?: number;
  /** The cause, for the log; never part of the response. */
  readonly cause?: unknown;
};

const [noStore] = responseHeaders['Cache-Control'].values;
const [noSniff] = responseHeaders['X-Content-Type-Options'].values;
const [challenge, rejection] = responseHeaders['WWW-Authenticate'].values;

const jsonFields = (bodyBytes: number, more: Fields): Fields => [
  'Content-Type',
  'application/json',
  'Cache-Control',
  noStore,
  'X-Content-Type-Options',
  noSniff,
  'Content-Length',
  String(bodyBytes),
  ...more,
];

const none: Fields = [];

const fieldsOf = (name: ErrorName): Fields => {
  switch (name) {
    case 'unauthenticated':
      return ['WWW-Authenticate', challenge];
    case 'token-rejected':
      return ['WWW-Authenticate', rejection];
    case 'unavailable':
      // In seconds (RFC 9110 §10.2.3).
      return ['Retry-After', '1'];
    default:
      return none;
  }
};

type ErrorDetails = {
  readonly message?: string;
  readonly fields?: Fields;
  readonly cause?: unknown;
};

const numberedResponse = (
  status: number,
  error: number,
  message: string,
  more: Fields,
): ResponseData => {
  const body = JSON.stringify({ error, message });
  return { status, fields: jsonFields(byteLength(body), more), body, error };
};

/** Returns the response for an entry of the error table. */
export const errorResponse = (name: ErrorName, details: ErrorDetails = {}): ResponseData => {
  const { error, status, message } = errorTable[name];
  const { fields = none, cause } = details;
  const more = [...fieldsOf(name), ...fields];
  return {
    ...numberedResponse(status, error, details.message ?? message, more),
    ...(cause !== undefined && { cause }),
  };
};

/** Returns the response for a stored plant. */
export const plantResponse = (plant: Plant): ResponseData => {
  const body = encodePlant(plant);
  const bodyBytes = byteLength(body);
  const isAscii = bodyBytes === body.length;
  return { status: 200, fields: jsonFields(bodyBytes, none), body, isAscii };
};

/** Returns the response for a plant that could not be created. */
export const failureResponse = (error: BodyUndecodable | CreatePlantError): ResponseData => {
  switch (error.kind) {
    case 'plant-invalid': {
      const { faults } = error;
      return errorResponse(faults[0], {
        message: faults.map((fault) => errorTable[fault].message).join('; '),
      });
    }
    case 'plant-refused':
      return {
        ...numberedResponse(400, error.error, error.message, none),
        ...(error.cause !== undefined && { cause: error.cause }),
      };
    case 'store-unavailable':
      return errorResponse('unavailable', { cause: { reason: error.reason, cause: error.cause } });
    case 'id-taken':
    case 'body-missing':
    case 'encoding-invalid':
    case 'json-malformed':
      return errorResponse(error.kind);
  }
};

/** The cause of a response if `maxInFlight` requests are in flight. */
export const tooManyInFlight = 'as many requests are in flight as may be (maxInFlight)';
