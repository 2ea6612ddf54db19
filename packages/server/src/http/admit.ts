import { type Answer, errorAnswer } from './answer.ts';
import { bearerTokenOf } from './bearer-token.ts';
import type { Cors } from './cors.ts';
import type { Deadline } from './deadline.ts';
import {
  type HeadFields,
  isHostValid,
  maxHeaderFields,
  readFields,
  type RequestHead,
} from './request-head.ts';
import { pathOf } from './request-path.ts';

/**
 * Decides whether a bearer token may create plants. Only `true` lets a request in; throwing or
 * rejecting answers 500.
 */
export type Authenticate = (token: string) => boolean | Promise<boolean>;

/** What a request head is held against. */
export type Entrance = {
  /** The one path there is, percent-decoded. */
  readonly path: string;
  readonly authenticate: Authenticate;
  readonly maxBodyBytes: number;
  /** How long `authenticate` may take, in milliseconds. */
  readonly handlerTimeoutMs: number;
  readonly inTime: Deadline;
  /** `undefined` where no other origin's pages may call. */
  readonly cors: Cors | undefined;
};

/** Decided from the head alone: the body is wanted, or this is the answer. */
export type Admission =
  { readonly kind: 'admitted' } | { readonly kind: 'answered'; readonly answer: Answer };

const refuse = (...error: Parameters<typeof errorAnswer>): Admission => ({
  kind: 'answered',
  answer: errorAnswer(...error),
});

const framingFault = ({ httpVersion }: RequestHead, fields: HeadFields): Admission | undefined => {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return refuse('bad-request', { message: 'only HTTP/1.1 and HTTP/1.0 are served' });
  }
  if (!isHostValid(fields.host, httpVersion)) {
    return refuse('bad-request', { message: 'a valid Host header is required' });
  }
  const coding = fields['transfer-encoding'];
  if (coding !== undefined && httpVersion === '1.0') {
    return refuse('bad-request', { message: 'HTTP/1.0 has no Transfer-Encoding' });
  }
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return refuse('not-implemented');
  return undefined;
};

/** Anything but POST: OPTIONS is known where other origins' pages may call. */
const otherMethod = ({ method, rawHeaders }: RequestHead, cors: Cors | undefined): Admission => {
  if (cors === undefined) return refuse('method-not-allowed', { headers: [['Allow', 'POST']] });
  return method === 'OPTIONS'
    ? { kind: 'answered', answer: cors.optionsAnswer(rawHeaders) }
    : refuse('method-not-allowed', { headers: [['Allow', 'OPTIONS, POST']] });
};

/** The forms in which a token may be in a message; padding may follow base64. */
const formsOf = (token: string): readonly string[] => {
  const bytes = Buffer.from(token);
  const base64 = bytes.toString('base64').replace(/=+$/, '');
  return [token, encodeURIComponent(token), base64, bytes.toString('base64url')];
};

/** Describes what was thrown, in one line without the token. */
const describe = (thrown: unknown, token: string): string => {
  const text = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : typeof thrown;
  const forms = formsOf(token);
  const hasToken = forms.some((form) => text.toLowerCase().includes(form.toLowerCase()));
  return hasToken ? 'an error whose message has the token in it' : text;
};

const isTrue = async (deciding: unknown): Promise<boolean> => (await deciding) === true;

const credentialsFault = async (
  { authenticate, handlerTimeoutMs, inTime }: Entrance,
  authorization: string | undefined,
): Promise<Admission | undefined> => {
  const token = bearerTokenOf(authorization);
  if (token === undefined) return refuse('unauthenticated');
  try {
    const deciding: unknown = authenticate(token);
    // Only what has to be waited for needs a deadline.
    const isAccepted = typeof deciding === 'boolean' ? deciding : await inTime(isTrue(deciding));
    if (isAccepted === undefined) {
      const cause = `authenticate did not answer in ${handlerTimeoutMs} ms`;
      return refuse('unavailable', { cause });
    }
    return isAccepted ? undefined : refuse('token-rejected');
  } catch (thrown) {
    return refuse('internal', { cause: `authenticate threw: ${describe(thrown, token)}` });
  }
};

/** With any parameters; only space and tab are space in a field (RFC 9110 §5.6.3). */
const jsonType = /^[ \t]*application\/json[ \t]*(?:;|$)/i;

const contentFault = (fields: HeadFields, maxBodyBytes: number): Admission | undefined => {
  if (fields.expect !== undefined && fields.expect.toLowerCase() !== '100-continue') {
    return refuse('expectation-failed');
  }
  if (!jsonType.test(fields['content-type'] ?? '')) {
    return refuse('media-type-unsupported', { headers: [['Accept', 'application/json']] });
  }
  if ((fields['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    return refuse('media-type-unsupported', { headers: [['Accept-Encoding', 'identity']] });
  }
  if (Number(fields['content-length'] ?? 0) > maxBodyBytes) return refuse('body-too-large');
  return undefined;
};

/**
 * Makes what holds request heads against the entrance, in the order framing, path, method, bearer,
 * expectation, media type, encoding, declared length.
 */
export const createAdmit =
  (entrance: Entrance) =>
  async (head: RequestHead): Promise<Admission> => {
    if (head.rawHeaders.length > 2 * maxHeaderFields) return refuse('headers-too-large');
    const fields = readFields(head.rawHeaders);
    if (fields === undefined) return refuse('bad-request', { message: 'a header is repeated' });
    const fault = framingFault(head, fields);
    if (fault !== undefined) return fault;
    if (pathOf(head.target) !== entrance.path) return refuse('path-unknown');
    if (head.method !== 'POST') return otherMethod(head, entrance.cors);
    return (
      (await credentialsFault(entrance, fields.authorization)) ??
      contentFault(fields, entrance.maxBodyBytes) ?? { kind: 'admitted' }
    );
  };
