import { isBearerToken } from '@plantstore/core/wire';

/**
 * The head of an HTTP request as plain data: its request line, and the fields that the service
 * reads.
 */
export type RequestHead = {
  readonly method: string;
  /** The request target as it was sent (RFC 9112 §3.2). */
  readonly target: string;
  readonly httpVersion: string;
  /** Number of header fields. */
  readonly fieldCount: number;
  /** Name of a field that is repeated and must occur once (RFC 9110 §5.3), as it was sent. */
  readonly repeated: string | undefined;
} & { readonly [name in FieldName]: string | undefined };

/** Reads a head in one pass over its header fields, which are alternating names and values. */
export function readHead(
  method: string,
  target: string,
  httpVersion: string,
  rawHeaders: readonly string[],
): RequestHead {
  const fieldCount = rawHeaders.length / 2;
  const repeated = undefined as string | undefined;
  const head = { ...noFields, method, target, httpVersion, fieldCount, repeated };
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sentName = rawHeaders[index] ?? '';
    const field = fieldOf(sentName);
    if (field === undefined) continue;
    const { name, ifRepeated } = field;
    const value = rawHeaders[index + 1] ?? '';
    const earlier = head[name];
    if (earlier === undefined) head[name] = value;
    else if (ifRepeated === 'fault') head.repeated = sentName;
    else head[name] = ifRepeated === 'list' ? `${earlier}, ${value}` : '';
  }
  return head;
}

/** Maximum number of header fields of a request. */
export const maxHeaderFields = 200;

/**
 * The fields that are read: the name in a head, and what a repeated field is. An `ignored` one is
 * invalid and harmless.
 */
const fields = {
  Host: { name: 'host', ifRepeated: 'fault' },
  Authorization: { name: 'authorization', ifRepeated: 'fault' },
  'Content-Type': { name: 'contentType', ifRepeated: 'fault' },
  'Content-Length': { name: 'contentLength', ifRepeated: 'fault' },
  'Content-Encoding': { name: 'contentEncoding', ifRepeated: 'list' },
  'Transfer-Encoding': { name: 'transferEncoding', ifRepeated: 'list' },
  Expect: { name: 'expect', ifRepeated: 'list' },
  Upgrade: { name: 'upgrade', ifRepeated: 'list' },
  'X-Forwarded-For': { name: 'forwardedFor', ifRepeated: 'list' },
  Origin: { name: 'origin', ifRepeated: 'ignored' },
  'X-Request-Id': { name: 'requestId', ifRepeated: 'ignored' },
} as const;

type Field = (typeof fields)[keyof typeof fields];
type FieldName = Field['name'];

const noFields = Object.fromEntries(
  Object.values(fields).map(({ name }) => [name, undefined]),
) as Record<FieldName, string | undefined>;

const fieldsByName: ReadonlyMap<string, Field> = new Map(
  Object.entries(fields).flatMap(([name, field]) => [
    [name, field],
    [name.toLowerCase(), field],
  ]),
);

/** Looks a name up as it was sent first, because converting it to lower case is slower. */
function fieldOf(name: string): Field | undefined {
  return fieldsByName.get(name) ?? fieldsByName.get(name.toLowerCase());
}

/** Returns whether the Host field is valid. HTTP/1.0 does not require one. */
export function isHostValid(host: string | undefined, httpVersion: string): boolean {
  return host === undefined ? httpVersion === '1.0' : isAuthorityValid(host);
}

/**
 * Returns whether a text is the authority of an http URI, with a host and without user information
 * (RFC 9110 §4.2).
 */
export function isAuthorityValid(text: string): boolean {
  // The URL parser decides whether brackets contain an address.
  return authority.test(text) && (!text.startsWith('[') || URL.canParse(`http://${text}`));
}

/** uri-host (RFC 3986 §3.2.2). */
const host = /\[[\dA-Fa-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\dA-Fa-f]{2})+/.source;
/** At most 65535, by a pattern, because converting a text to a number is slow. */
const port = /0*(?:[0-5]?\d{0,4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])/.source;
/** uri-host [ ":" port ] (RFC 9110 §7.2). */
const authority = new RegExp(`^(?:${host})(?::${port})?$`);

/** Returns the token of an Authorization field (RFC 6750 §2.1), or `undefined` if it has none. */
export function bearerTokenOf(authorization = ''): string | undefined {
  const token = credentials.exec(authorization)?.[1];
  return token !== undefined && isBearerToken(token) ? token : undefined;
}

/** The scheme in any case, and one or more spaces (RFC 9110 §11.4). */
const credentials = /^Bearer +(\S+)$/i;

/**
 * Returns the percent-decoded path of a request target, without the query; `undefined` if it has
 * none.
 */
export function pathOf(target: string): string | undefined {
  const [path = ''] = target.replace(origin, '').split('?', 1);
  return path.startsWith('/') ? percentDecode(path) : undefined;
}

/**
 * Returns the path of a request target for the log, not decoded. A query, a fragment and user
 * information may be secret and are left out. Returns `undefined` if the target has no path.
 */
export function shownPath(target: string): string | undefined {
  const [path = ''] = target.replace(origin, '').split(/[?#]/, 1);
  return path.startsWith('/') || path === '*' ? shorten(path) : undefined;
}

/** Returns a text of a client for the log: at most 1024 characters, and a mark if more follow. */
export function shorten(text: string): string {
  return text.length > 1_024 ? `${text.slice(0, 1_024)}…` : text;
}

/**
 * Returns the authority of a request target in absolute-form, or in CONNECT's authority-form, as it
 * was sent.
 */
export function authorityOf({ method, target }: RequestHead): string | undefined {
  const isAuthority = method === 'CONNECT' && !target.startsWith('/');
  return origin.exec(target)?.groups?.['authority'] ?? (isAuthority ? target : undefined);
}

/** scheme "://" authority, of a target in absolute-form (RFC 9112 §3.2.2). */
const origin = /^https?:\/\/(?<authority>[^/?#]+)/i;

/**
 * Returns a base path in the form in which paths are compared: percent-decoded, without a trailing
 * slash. Returns `undefined` for one without a leading slash, that is ambiguous or cannot be
 * decoded.
 */
export function normalizeBasePath(basePath: string): string | undefined {
  if (basePath === '') return '';
  if (!basePath.startsWith('/') || ambiguous.test(basePath)) return undefined;
  return percentDecode(basePath)?.replace(/\/$/, '');
}

/** What a URL parser would change or cut off in a path, and what is left of a template. */
const ambiguous = /[?#{}"\\\p{Cc}]|\/\/|\/\.{1,2}(?:\/|$)/u;

/** Percent-decodes a path; returns `undefined` if that is not possible. */
function percentDecode(path: string): string | undefined {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** Percent-encodes a decoded path for a URL. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
