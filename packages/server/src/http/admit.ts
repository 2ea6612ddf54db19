import { responseHeaders } from '@plantstore/core/errors';
import { operation } from '@plantstore/core/wire';
import type { Authenticate } from './authenticate.ts';
import { describeAuthenticateError } from './describe-cause.ts';
import { type Timeouts, undefinedAfterTimeout } from './timeouts.ts';
import { type ResponseData, errorResponse } from './response-data.ts';
import { bearerTokenOf } from './bearer-token.ts';
import { allow, type Cors } from './cors.ts';
import { isHostValid, maxHeaderFields, type RequestHead } from './request-head.ts';
import { pathOf } from './request-path.ts';

/** The rules that request heads are checked against. */
export type AdmissionRules = {
  /** The only path, percent-decoded. */
  readonly path: string;
  readonly authenticate: Authenticate;
  readonly maxBodyBytes: number;
  /** How long `authenticate` may take, in milliseconds. */
  readonly handlerTimeoutMs: number;
  readonly timeouts: Timeouts;
  /** `undefined` if CORS is off. */
  readonly cors: Cors | undefined;
};

/** The decision about a request, from its head alone: read its body, or send this response. */
export type Admission = (
  | { readonly kind: 'admitted' }
  | { readonly kind: 'responded'; readonly responseData: ResponseData }
) & {
  /** Name of the token that was accepted, if it has one. */
  readonly tokenName?: string;
};

const admitted: Admission = { kind: 'admitted' };

const refuse = (...error: Parameters<typeof errorResponse>): Admission => ({
  kind: 'responded',
  responseData: errorResponse(...error),
});

/** The registered HTTP methods that Node's parser supports. */
const httpMethods: ReadonlySet<string> = new Set(
  (
    'GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH QUERY ' +
    'ACL BIND CHECKOUT COPY LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL MOVE PROPFIND PROPPATCH ' +
    'REBIND REPORT SEARCH UNBIND UNLINK UNLOCK'
  ).split(' '),
);

const protocolFault = ({ method, httpVersion }: RequestHead): Admission | undefined => {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return refuse('bad-request', { message: 'only HTTP/1.1 and HTTP/1.0 are served' });
  }
  return httpMethods.has(method) ? undefined : refuse('not-implemented');
};

const framingFault = (head: RequestHead): Admission | undefined => {
  const { httpVersion, transferEncoding: coding } = head;
  if (head.fieldCount > maxHeaderFields) return refuse('headers-too-large');
  if (head.isRepeated) return refuse('bad-request', { message: 'a header is repeated' });
  const protocol = protocolFault(head);
  if (protocol !== undefined) return protocol;
  if (!isHostValid(head.host, httpVersion)) {
    return refuse('bad-request', { message: 'a valid Host header is required' });
  }
  if (coding === undefined) return undefined;
  if (httpVersion === '1.0') {
    return refuse('bad-request', { message: 'HTTP/1.0 has no Transfer-Encoding' });
  }
  return coding.toLowerCase() === 'chunked' ? undefined : refuse('not-implemented');
};

const methodFault = (head: RequestHead, cors: Cors | undefined): Admission | undefined => {
  if (head.method === operation.method) return undefined;
  if (cors === undefined)
    return refuse('method-not-allowed', { fields: ['Allow', operation.method] });
  if (head.method !== 'OPTIONS') return refuse('method-not-allowed', { fields: allow });
  return { kind: 'responded', responseData: cors.optionsResponse(head.origin) };
};

const authenticateThrew = (thrown: unknown, token: string): Admission =>
  refuse('internal', { cause: `authenticate threw: ${describeAuthenticateError(thrown, token)}` });

/**
 * With any parameters. Optional whitespace is spaces and tabs (RFC 9110 §5.6.3). At a comma that is not
 * quoted, a server joined repeated fields.
 */
const jsonType = /^[ \t]*application\/json[ \t]*(?:;(?:[^",]|"(?:[^"\\]|\\.)*")*)?$/i;

const [mediaType] = responseHeaders.Accept.values;
const [coding] = responseHeaders['Accept-Encoding'].values;

const contentFault = (head: RequestHead, maxBodyBytes: number): Admission | undefined => {
  const { expect, contentType, contentEncoding, contentLength } = head;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    return refuse('expectation-failed');
  }
  if (contentType !== mediaType && !jsonType.test(contentType ?? '')) {
    return refuse('media-type-unsupported', { fields: ['Accept', mediaType] });
  }
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== coding) {
    return refuse('media-type-unsupported', { fields: ['Accept-Encoding', coding] });
  }
  // NaN if no length is declared.
  return Number(contentLength) > maxBodyBytes ? refuse('body-too-large') : undefined;
};

const tokenNameIn = (decision: unknown): string | undefined => {
  if (typeof decision !== 'object' || decision === null) return undefined;
  const { tokenName } = decision as { tokenName?: unknown };
  return typeof tokenName === 'string' ? tokenName : undefined;
};

/**
 * Returns a function that checks request heads in the order framing, path, method, bearer, expectation,
 * media type, encoding, declared length. It returns a promise only if `authenticate` does.
 */
export const createAdmit = (rules: AdmissionRules) => {
  const { path, authenticate, maxBodyBytes, handlerTimeoutMs, timeouts, cors } = rules;
  // Most targets equal the path and need no decoding.
  const plainTarget = /[%?]/.test(path) ? undefined : path;

  const admitContent = (head: RequestHead, decision: unknown): Admission => {
    const tokenName = tokenNameIn(decision);
    if (decision !== true && tokenName === undefined) return refuse('token-rejected');
    const admission = contentFault(head, maxBodyBytes) ?? admitted;
    return tokenName === undefined ? admission : { ...admission, tokenName };
  };

  const admitLater = async (
    head: RequestHead,
    decision: unknown,
    token: string,
  ): Promise<Admission> => {
    try {
      const decide = async () => admitContent(head, await decision);
      const admission = await undefinedAfterTimeout(timeouts, decide());
      if (admission !== undefined) return admission;
    } catch (thrown) {
      return authenticateThrew(thrown, token);
    }
    const cause = `authenticate timed out after ${handlerTimeoutMs} ms`;
    return refuse('unavailable', { cause });
  };

  return (head: RequestHead): Admission | Promise<Admission> => {
    const framing = framingFault(head);
    if (framing !== undefined) return framing;
    if (head.target !== plainTarget && pathOf(head.target) !== path) return refuse('path-unknown');
    const method = methodFault(head, cors);
    if (method !== undefined) return method;
    const token = bearerTokenOf(head.authorization);
    if (token === undefined) return refuse('unauthenticated');
    try {
      const decision: unknown = authenticate(token);
      return typeof decision === 'boolean' || tokenNameIn(decision) !== undefined
        ? admitContent(head, decision)
        : admitLater(head, decision, token);
    } catch (thrown) {
      return authenticateThrew(thrown, token);
    }
  };
};
