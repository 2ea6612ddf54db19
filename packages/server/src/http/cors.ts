import { responseHeaders } from '@plantstore/core/errors';
import { operation } from '@plantstore/core/wire';
import type { ResponseData, Fields } from './response-data.ts';

/** How long a browser may cache a preflight, in seconds (2 hours, Chromium's maximum). */
const maxAgeSeconds = 7_200;

const [varying] = responseHeaders.Vary.values;
const [exposed] = responseHeaders['Access-Control-Expose-Headers'].values;

/** Returns whether a value is an origin as browsers send it: lower case, no path, no default port. */
export const isOrigin = (value: unknown): boolean =>
  typeof value === 'string' &&
  /^https?:/.test(value) &&
  URL.canParse(value) &&
  new URL(value).origin === value;

/** A field name (RFC 9110 §5.1) other than `*`, the wildcard of Fetch. */
const fieldName = /^[\w!#$%&'+.^`|~-]+$/;

/** Returns whether a value is a header name that can be allowed. */
export const isFieldName = (name: unknown): boolean =>
  typeof name === 'string' && fieldName.test(name);

/** Cross-origin resource sharing with a list of origins. */
export type Cors = {
  /** The fields of every response to a request with this Origin field, if it can be parsed. */
  readonly fieldsFor: (origin: string | undefined) => Fields;
  /** The response to OPTIONS, a preflight or not, without those fields. */
  readonly optionsResponse: (origin: string | undefined) => ResponseData;
};

/** The Allow field if CORS is on. */
export const allow: Fields = ['Allow', `OPTIONS, ${operation.method}`];

/**
 * Creates the CORS rules for these origins; returns `undefined` if there are none. Pages of an origin may
 * send these headers besides `Authorization` and `Content-Type`. Credentials such as cookies are not
 * allowed, because the token authorizes a request.
 */
export const createCors = (
  origins: readonly string[],
  allowedHeaders: readonly string[] = [],
): Cors | undefined => {
  if (origins.length === 0) return undefined;
  const preflightFields: Fields = [
    ...allow,
    'Access-Control-Allow-Methods',
    operation.method,
    'Access-Control-Allow-Headers',
    ['authorization', 'content-type', ...allowedHeaders].join(', '),
    'Access-Control-Max-Age',
    String(maxAgeSeconds),
  ];
  const vary: Fields = ['Vary', varying];
  const listed: ReadonlyMap<string | undefined, Fields> = new Map(
    origins.map((origin) => [
      origin,
      ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', exposed, ...vary],
    ]),
  );
  return {
    fieldsFor: (origin) => listed.get(origin) ?? vary,
    optionsResponse: (origin) => ({
      status: 204,
      fields: listed.has(origin) ? preflightFields : allow,
      body: '',
    }),
  };
};
