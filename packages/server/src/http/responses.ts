import type { CreatePlantError, Plant } from '@plantstore/core';
import { type ErrorName, errorTable } from '@plantstore/core/errors';
import { type BodyUndecodable, encodePlant } from '@plantstore/core/wire';
import { shorten } from './request-head.ts';

/** An HTTP response as plain data. */
export type ResponseData = {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: string;
  /** Whether the body is ASCII, which Node writes faster. Default: false. */
  readonly isAscii?: boolean;
  /** The error number in the body; `undefined` for a success. */
  readonly error?: number;
  /** The cause, for the log; never part of the response. */
  readonly cause?: unknown;
  /** What Node's parser calls a request that it cannot parse, for the log. */
  readonly parserCode?: string | undefined;
};

/** Header fields as alternating names and values, the form that `node:http` writes fastest. */
export type HeaderList = readonly string[];

/** Returns header fields as pairs. */
export function pairsOf(headers: HeaderList): [name: string, value: string][] {
  return headers.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, headers[index + 1] ?? '']] : [],
  );
}

/** Returns the response for a stored plant. */
export function plantResponse(plant: Plant): ResponseData {
  return jsonResponse(200, encodePlant(plant));
}

/** Returns the response for a plant that could not be created. */
export function failureResponse(failure: BodyUndecodable | CreatePlantError): ResponseData {
  switch (failure.kind) {
    case 'plant-invalid': {
      const { faults } = failure;
      const message = faults.map((fault) => errorTable[fault].message).join('; ');
      return errorResponse(faults[0], { message });
    }
    case 'plant-refused': {
      const { error, message, cause } = failure;
      return { ...jsonResponse(400, JSON.stringify({ error, message })), error, cause };
    }
    case 'store-unavailable':
      return errorResponse('unavailable', {
        cause: { reason: failure.reason, cause: failure.cause },
      });
    default:
      return errorResponse(failure.kind);
  }
}

/** Returns the response for an entry of the error table. */
export function errorResponse(name: ErrorName, details: ErrorDetails = {}): ResponseData {
  const { error, status, message: usual } = errorTable[name];
  const { message = usual, headers = [], cause } = details;
  const more = [...(headersOf[name] ?? []), ...headers];
  return { ...jsonResponse(status, JSON.stringify({ error, message }), more), error, cause };
}

type ErrorDetails = {
  readonly message?: string;
  readonly headers?: HeaderList;
  readonly cause?: unknown;
};

const headersOf: { readonly [name in ErrorName]?: HeaderList } = {
  unauthenticated: ['WWW-Authenticate', 'Bearer realm="plantstore"'],
  'token-rejected': ['WWW-Authenticate', 'Bearer realm="plantstore", error="invalid_token"'],
  // In seconds (RFC 9110 §10.2.3).
  unavailable: ['Retry-After', '1'],
};

function jsonResponse(status: number, body: string, more: HeaderList = []): ResponseData {
  const bytes = byteLength(body);
  const headers = [
    'Content-Type',
    'application/json',
    'Cache-Control',
    'no-store',
    'X-Content-Type-Options',
    'nosniff',
    'Content-Length',
    String(bytes),
    ...more,
  ];
  return { status, headers, body, isAscii: bytes === body.length };
}

/** Returns the size of a text in UTF-8, in bytes. */
export function byteLength(text: string): number {
  // Faster, if the runtime has it.
  return typeof Buffer === 'undefined'
    ? new TextEncoder().encode(text).byteLength
    : Buffer.byteLength(text);
}

/** Cross-origin resource sharing with a list of origins. */
export type Cors = {
  /** The headers of every response to a request with this Origin field, if it can be parsed. */
  readonly headersFor: (origin: string | undefined) => HeaderList;
  /** The response to OPTIONS, a preflight or not, without those headers. */
  readonly optionsResponse: (origin: string | undefined, methods: string) => ResponseData;
};

/**
 * Creates the CORS rules for these origins; returns `undefined` if there are none. Pages of an
 * origin may send these headers besides `Authorization` and `Content-Type`. Credentials such as
 * cookies are not allowed, because the token authorizes a request.
 */
export function createCors(
  origins: readonly string[],
  allowedHeaders: readonly string[],
): Cors | undefined {
  if (origins.length === 0) return undefined;
  const preflightHeaders = [
    'Access-Control-Allow-Headers',
    ['authorization', 'content-type', ...allowedHeaders].join(', '),
    // In seconds: 2 hours, Chromium's maximum.
    'Access-Control-Max-Age',
    '7200',
  ];
  const exposed = ['Access-Control-Expose-Headers', 'Retry-After, WWW-Authenticate, X-Request-Id'];
  const listed: ReadonlyMap<string | undefined, HeaderList> = new Map(
    origins.map((origin) => [origin, ['Access-Control-Allow-Origin', origin, ...exposed, ...vary]]),
  );
  return {
    headersFor: (origin) => listed.get(origin) ?? vary,
    optionsResponse(origin, methods) {
      const allow = ['Allow', `OPTIONS, ${methods}`];
      const headers = [...allow, 'Access-Control-Allow-Methods', methods, ...preflightHeaders];
      if (listed.has(origin)) return { status: 204, headers, body: '' };
      const refused = { status: 204, headers: allow, body: '' };
      if (origin === undefined) return refused;
      const shown = JSON.stringify(shorten(origin));
      return { ...refused, cause: `the origin ${shown} is not allowed` };
    },
  };
}

const vary: HeaderList = ['Vary', 'Origin'];

/** The response if `maxInFlight` requests are in flight. */
export const tooManyInFlight = errorResponse('unavailable', {
  cause: 'as many requests are in flight as may be (maxInFlight)',
});
