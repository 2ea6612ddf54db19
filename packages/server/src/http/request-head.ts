/** The head of an HTTP request as plain data: its line, and the fields that the service reads. */
export type RequestHead = {
  readonly method: string;
  /** The request target as it was sent (RFC 9112 §3.2). */
  readonly target: string;
  readonly httpVersion: string;
  /** How many header fields there are. */
  readonly fieldCount: number;
  /** Whether a field is repeated that must not be (RFC 9110 §5.3). */
  readonly isRepeated: boolean;
} & { readonly [name in FieldName]: string | undefined };

/** The fields that are read, in their usual form. */
const names = {
  Host: 'host',
  Authorization: 'authorization',
  'Content-Type': 'contentType',
  'Content-Length': 'contentLength',
  'Content-Encoding': 'contentEncoding',
  'Transfer-Encoding': 'transferEncoding',
  Expect: 'expect',
  Forwarded: 'forwarded',
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

/** Names are usually in one of the two forms of the map, so that few are put in lower case. */
const fieldOf = (name: string): FieldName | undefined =>
  fieldsByName.get(name) ??
  (name.length > longestName ? undefined : fieldsByName.get(name.toLowerCase()));

/** The value of a field that stands there more than once. */
const repeatedValue = (field: FieldName, first: string, next: string): string | undefined => {
  switch (field) {
    case 'contentEncoding':
    case 'transferEncoding':
    case 'expect':
    case 'forwarded':
    case 'forwardedFor':
    case 'upgrade':
      // Lists (RFC 9110 §5.3).
      return `${first}, ${next}`;
    case 'origin':
    case 'requestId':
      // Neither valid nor harmful: as if it had no value.
      return '';
    default:
      return undefined;
  }
};

/** Reads a head in one pass over its header fields, names and values in turn. */
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
    forwarded: undefined,
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

/** How many header fields a request may have. */
export const maxHeaderFields = 200;

/** uri-host [ ":" port ] (RFC 9110 §7.2, RFC 3986 §3.2.2); an http URI's host is not empty. */
const hostField = /^(?:\[[\dA-Fa-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\dA-Fa-f]{2})+)(?::\d*)?$/;

/** Whether the Host field is valid; HTTP/1.0 does not require one. */
export const isHostValid = (host: string | undefined, httpVersion: string): boolean =>
  host === undefined ? httpVersion === '1.0' : hostField.test(host);
