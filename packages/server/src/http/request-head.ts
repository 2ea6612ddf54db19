/** The head of an HTTP request as plain data: its request line, and the fields that the service reads. */
export type RequestHead = {
  readonly method: string;
  /** The request target as it was sent (RFC 9112 §3.2). */
  readonly target: string;
  readonly httpVersion: string;
  /** Number of header fields. */
  readonly fieldCount: number;
  /** Whether a field is repeated that must occur once (RFC 9110 §5.3). */
  readonly isRepeated: boolean;
} & { readonly [name in FieldName]: string | undefined };

/** The fields that are read, in their usual capitalization. */
const names = {
  Host: 'host',
  Authorization: 'authorization',
  'Content-Type': 'contentType',
  'Content-Length': 'contentLength',
  'Content-Encoding': 'contentEncoding',
  'Transfer-Encoding': 'transferEncoding',
  Expect: 'expect',
  Origin: 'origin',
  Upgrade: 'upgrade',
  'X-Forwarded-For': 'forwardedFor',
  'X-Request-Id': 'requestId',
} as const;

type FieldName = (typeof names)[keyof typeof names];

const fieldsByName: ReadonlyMap<string, FieldName> = new Map(
  Object.entries(names).flatMap(([name, field]) => [
    [name, field],
    [name.toLowerCase(), field],
  ]),
);

const longestName = Math.max(...Object.keys(names).map((name) => name.length));

/** Looks a name up as it was sent first, because converting it to lower case is slower. */
const fieldOf = (name: string): FieldName | undefined =>
  fieldsByName.get(name) ??
  (name.length > longestName ? undefined : fieldsByName.get(name.toLowerCase()));

/** Returns the value of a repeated field; `undefined` if the field must not be repeated. */
const repeatedValue = (field: FieldName, first: string, next: string): string | undefined => {
  switch (field) {
    case 'contentEncoding':
    case 'transferEncoding':
    case 'expect':
    case 'forwardedFor':
    case 'upgrade':
      // Lists (RFC 9110 §5.3).
      return `${first}, ${next}`;
    case 'origin':
    case 'requestId':
      // A repeated value is invalid and harmless, so that it is ignored.
      return '';
    default:
      return undefined;
  }
};

/** Reads a head in one pass over its raw headers. */
export const readHead = (
  method: string,
  target: string,
  httpVersion: string,
  rawHeaders: readonly string[],
): RequestHead => {
  const head = {
    method,
    target,
    httpVersion,
    fieldCount: rawHeaders.length / 2,
    isRepeated: false,
    host: undefined,
    authorization: undefined,
    contentType: undefined,
    contentLength: undefined,
    contentEncoding: undefined,
    transferEncoding: undefined,
    expect: undefined,
    forwardedFor: undefined,
    origin: undefined,
    upgrade: undefined,
    requestId: undefined,
  } as { -readonly [name in keyof RequestHead]: RequestHead[name] };
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const field = fieldOf(rawHeaders[index] ?? '');
    if (field === undefined) continue;
    const value = rawHeaders[index + 1] ?? '';
    const earlier = head[field];
    if (earlier === undefined) {
      head[field] = value;
      continue;
    }
    const repeated = repeatedValue(field, earlier, value);
    if (repeated === undefined) head.isRepeated = true;
    else head[field] = repeated;
  }
  return head;
};

/** Maximum number of header fields of a request. */
export const maxHeaderFields = 200;

/** uri-host [ ":" port ] (RFC 9110 §7.2, RFC 3986 §3.2.2); an http URI's host is not empty. */
const hostField =
  /^(?:\[[\dA-Fa-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\dA-Fa-f]{2})+)(?::(?<port>\d*))?$/;

const largestPort = 65_535;

/** The last valid Host field. Most requests have the same. */
let lastHost: string | undefined;

/** Returns whether the Host field is valid. HTTP/1.0 does not require one. */
export const isHostValid = (host: string | undefined, httpVersion: string): boolean => {
  if (host === undefined) return httpVersion === '1.0';
  if (host === lastHost) return true;
  const match = hostField.exec(host);
  if (match === null || Number(match.groups?.['port'] ?? 0) > largestPort) return false;
  lastHost = host;
  return true;
};
