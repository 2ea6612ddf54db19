import { describeAuthenticateError } from './describe-cause.ts';
import type { Operations } from './operations.ts';
import type { ServiceOptions } from './options.ts';
import {
  authorityOf,
  bearerTokenOf,
  isAuthorityValid,
  isHostValid,
  maxHeaderFields,
  type RequestHead,
} from './request-head.ts';
import { errorResponse, type ResponseData } from './responses.ts';
import { isObject, isThenable } from './values.ts';

/**
 * Returns a function that checks request heads in the order framing, path, method, bearer,
 * expectation, media type, encoding, declared length. It returns a promise only if `authenticate`
 * does.
 */
export function createAdmit(
  { operationOf, refusalOf }: Operations,
  authenticate: ServiceOptions['authenticate'],
  maxBodyBytes: number,
): Admit {
  return (head) => {
    const fault = framingFault(head);
    if (fault !== undefined) return { response: fault };
    const operation = operationOf(head);
    if (operation === undefined) return { response: refusalOf(head) };
    const token = bearerTokenOf(head.authorization);
    if (token === undefined) return { response: errorResponse('unauthenticated') };
    try {
      const decision: unknown = authenticate(token, operation.request);
      if (!isThenable(decision)) return admitToken(head, decision);
      return Promise.resolve(decision)
        .then((later) => admitToken(head, later))
        .catch((thrown: unknown) => authenticateThrew(thrown, token));
    } catch (thrown) {
      return authenticateThrew(thrown, token);
    }
  };

  function admitToken(head: RequestHead, decision: unknown): Admission {
    const tokenName = tokenNameIn(decision);
    if (decision !== true && tokenName === undefined)
      return { response: errorResponse('token-rejected') };
    return { response: contentFault(head, maxBodyBytes), tokenName };
  }
}

export type Admit = (head: RequestHead) => Admission | Promise<Admission>;

/** The decision about a request, from its head alone. */
export type Admission = {
  /** The response, without reading the body; `undefined` if the request is admitted. */
  readonly response: ResponseData | undefined;
  /** Name of the token that was accepted, if it has one. */
  readonly tokenName?: string | undefined;
};

function framingFault(head: RequestHead): ResponseData | undefined {
  const { method, httpVersion, transferEncoding } = head;
  if (head.fieldCount > maxHeaderFields) return errorResponse('headers-too-large');
  if (head.repeated !== undefined) return badRequest(`the header ${head.repeated} is repeated`);
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return badRequest('only HTTP/1.1 and HTTP/1.0 are served');
  if (!httpMethods.has(method)) return errorResponse('not-implemented');
  if (!isHostValid(head.host, httpVersion)) return badRequest('a valid Host header is required');
  const authority = authorityOf(head);
  if (authority !== undefined && !isAuthorityValid(authority))
    return badRequest('the authority of the target is not valid');
  if (transferEncoding === undefined) return undefined;
  if (httpVersion === '1.0') return badRequest('HTTP/1.0 has no Transfer-Encoding');
  const isChunked = transferEncoding.toLowerCase() === 'chunked';
  return isChunked ? undefined : errorResponse('not-implemented');
}

function badRequest(message: string): ResponseData {
  return errorResponse('bad-request', { message });
}

/** The registered HTTP methods that Node's parser supports. */
const httpMethods: ReadonlySet<string> = new Set(
  (
    'GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH QUERY ' +
    'ACL BIND CHECKOUT COPY LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL MOVE PROPFIND PROPPATCH ' +
    'REBIND REPORT SEARCH UNBIND UNLINK UNLOCK'
  ).split(' '),
);

function authenticateThrew(thrown: unknown, token: string): Admission {
  const cause = `authenticate threw: ${describeAuthenticateError(thrown, token)}`;
  return { response: errorResponse('internal', { cause }) };
}

function tokenNameIn(decision: unknown): string | undefined {
  if (!isObject(decision)) return undefined;
  const { tokenName } = decision as { tokenName?: unknown };
  return typeof tokenName === 'string' ? tokenName : undefined;
}

function contentFault(head: RequestHead, maxBodyBytes: number): ResponseData | undefined {
  const { expect, contentType = '', contentEncoding, contentLength } = head;
  if (expect !== undefined && !isContinue.test(expect)) return errorResponse('expectation-failed');
  if (contentType !== 'application/json' && !jsonType.test(contentType))
    return errorResponse('media-type-unsupported', { headers: ['Accept', 'application/json'] });
  if (contentEncoding !== undefined && !isIdentity.test(contentEncoding))
    return errorResponse('media-type-unsupported', { headers: ['Accept-Encoding', 'identity'] });
  // NaN if no length is declared.
  return Number(contentLength) > maxBodyBytes ? errorResponse('body-too-large') : undefined;
}

/**
 * With any parameters. Optional whitespace is spaces and tabs (RFC 9110 §5.6.3). At a comma that is
 * not quoted, a server joined repeated fields.
 */
const jsonType = /^[ \t]*application\/json[ \t]*(?:;(?:[^",]|"(?:[^"\\]|\\.)*")*)?$/i;

const isContinue = listOf('100-continue');
const isIdentity = listOf('identity');

/**
 * Matches a list in which every element is a word. Empty elements do not count (RFC 9110 §5.6.1.2).
 */
function listOf(word: string): RegExp {
  return new RegExp(`^[ \\t,]*(?:${word}[ \\t]*(?:,[ \\t,]*|$))*$`, 'i');
}
