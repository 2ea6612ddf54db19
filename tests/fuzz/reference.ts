import { isIPv6 } from 'node:net';
import { readPlant, type ReadPlant } from './read-plant.ts';

/** A request, parsed independently of the code of the server. */
export type ReadRequest = {
  readonly method: string;
  readonly hasToken: boolean;
  /** The plant that the request may create, as text; `undefined` if it is not valid. */
  readonly plant: string | undefined;
  /** Whether the request is complete; an incomplete request may have a response, too. */
  readonly isComplete: boolean;
};

type Fields = ReadonlyMap<string, readonly string[]>;

/** Node's parser accepts RTSP like HTTP, and does not report which of the two it was. */
const requestLine = /^([\w!#$%&'*+.^`|~-]+) +([\x21-\x7e]+) +(?:HTTP|RTSP)\/(\d\.\d)$/;
const fieldLine = /^([\w!#$%&'*+.^`|~-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*$/;
const authority = /^(?:\[(.+)\]|(?:[\w.~!$&'()*+,;=-]|%[\dA-Fa-f]{2})+)(?::(\d*))?$/;

/** No generated request is near this limit. */
const maxHeadBytes = 16_000;

const readFields = (lines: readonly string[]): Fields | undefined => {
  const fields = new Map<string, readonly string[]>();
  for (const line of lines) {
    const [, name, value] = fieldLine.exec(line) ?? [];
    if (name === undefined || value === undefined) return undefined;
    const key = name.toLowerCase();
    fields.set(key, [...(fields.get(key) ?? []), value]);
  }
  return fields;
};

type Body = { readonly bytes: Buffer; readonly end: number };

const readChunks = (text: string, start: number): Body | undefined => {
  let at = start;
  const chunks: string[] = [];
  for (;;) {
    const line = /^([\dA-Fa-f]+)(?:;[^\r\n]*)?\r\n/.exec(text.slice(at, at + maxHeadBytes));
    if (line === null) return undefined;
    at += line[0].length;
    const size = Number.parseInt(line[1] ?? '', 16);
    if (size === 0) break;
    if (text.slice(at + size, at + size + 2) !== '\r\n') return undefined;
    chunks.push(text.slice(at, at + size));
    at += size + 2;
  }
  const bytes = Buffer.from(chunks.join(''), 'latin1');
  if (text.startsWith('\r\n', at)) return { bytes, end: at + 2 };
  const end = text.slice(0, at + maxHeadBytes).indexOf('\r\n\r\n', at);
  const trailers = end === -1 ? undefined : readFields(text.slice(at, end).split('\r\n'));
  const isFraming = trailers?.has('content-length') === true || trailers?.has('transfer-encoding');
  return trailers === undefined || isFraming === true ? undefined : { bytes, end: end + 4 };
};

const readBody = (
  text: string,
  start: number,
  fields: Fields,
  version: string,
): Body | undefined => {
  const lengths = fields.get('content-length') ?? [];
  const codings = fields.get('transfer-encoding') ?? [];
  if (codings.length > 0) {
    const isChunked = codings.length === 1 && codings[0]?.toLowerCase() === 'chunked';
    return lengths.length === 0 && isChunked && version === '1.1'
      ? readChunks(text, start)
      : undefined;
  }
  if (lengths.length === 0) return { bytes: Buffer.alloc(0), end: start };
  const length = lengths.length === 1 && /^\d+$/.test(lengths[0] ?? '') ? Number(lengths[0]) : -1;
  const end = start + length;
  if (length < 0 || end > text.length) return undefined;
  return { bytes: Buffer.from(text.slice(start, end), 'latin1'), end };
};

const isPlants = (target: string): boolean => {
  const [path = ''] = target.replace(/^https?:\/\/[^/?#]+/i, '').split('?', 1);
  const decoded = path.replaceAll(/%([\dA-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return decoded === '/plants';
};

const isAuthority = (text: string): boolean => {
  const [whole, address, port] = authority.exec(text) ?? [];
  return (
    whole !== undefined && (address === undefined || isIPv6(address)) && Number(port ?? 0) < 65_536
  );
};

/** Returns whether Host, which HTTP/1.0 does not require, and the target have a valid authority. */
const hasAuthority = ({ target, version, fields }: Head): boolean => {
  const [, ofTarget = 'a'] = /^https?:\/\/([^/?#]+)/i.exec(target) ?? [];
  const hosts = fields.get('host') ?? (version === '1.0' ? ['a'] : []);
  return hosts.length === 1 && [ofTarget, ...hosts].every(isAuthority);
};

/** Returns whether a field is there once and has a valid value. */
const isValidField = (fields: Fields, name: string, pattern: RegExp): boolean => {
  const [value = '', ...more] = fields.get(name) ?? [];
  return more.length === 0 && pattern.test(value);
};

/** Returns whether every element of a list is a word. */
const isListOf = (fields: Fields, name: string, word: string): boolean =>
  (fields.get(name) ?? [])
    .flatMap((value) => value.split(/[ \t]*,[ \t]*/))
    .every((element) => ['', word].includes(element.toLowerCase()));

/** Returns a plant as text, for comparisons. */
export const toText = (plant: ReadPlant): string =>
  JSON.stringify([String(plant.id), plant.name, plant.tag ?? null]);

type Head = {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly fields: Fields;
};

const readHead = (text: string): Head | undefined => {
  const [first = '', ...lines] = text.split('\r\n');
  const [, method, target = '', version = ''] = requestLine.exec(first) ?? [];
  const fields = readFields(lines);
  if (method === undefined || fields === undefined || !/^1\.[01]$/.test(version)) return undefined;
  return { method, target, version, fields };
};

const isCreate = (head: Head): boolean =>
  head.method === 'POST' &&
  isPlants(head.target) &&
  hasAuthority(head) &&
  isValidField(head.fields, 'content-type', /^application\/json[ \t]*(?:;|$)/i) &&
  isListOf(head.fields, 'content-encoding', 'identity') &&
  isListOf(head.fields, 'expect', '100-continue');

const closesConnection = ({ method, version, fields }: Head): boolean =>
  method === 'CONNECT' ||
  fields.has('upgrade') ||
  (fields.get('connection') ?? []).some((value) => /close/i.test(value)) ||
  (version === '1.0' && !fields.has('connection'));

/** Parses the bytes of a client, up to the first incomplete or malformed request. */
export const readRequests = (bytes: Buffer, maxBodyBytes: number, token: string): ReadRequest[] => {
  const text = bytes.toString('latin1');
  const requests: ReadRequest[] = [];
  let at = 0;
  for (;;) {
    at += /^[\r\n]*/.exec(text.slice(at))?.[0].length ?? 0;
    const headEnd = text.indexOf('\r\n\r\n', at);
    if (headEnd === -1 || headEnd - at > maxHeadBytes) return requests;
    const head = readHead(text.slice(at, headEnd));
    if (head === undefined) return requests;
    const { method, fields, version } = head;
    const body = readBody(text, headEnd + 4, fields, version);
    const hasToken = isValidField(fields, 'authorization', new RegExp(`^Bearer +${token}$`, 'i'));
    const isValid = hasToken && isCreate(head) && (body?.bytes.length ?? 0) <= maxBodyBytes;
    const plant = isValid && body !== undefined ? readPlant(body.bytes) : undefined;
    requests.push({
      method,
      hasToken,
      plant: plant && toText(plant),
      isComplete: body !== undefined,
    });
    if (body === undefined || closesConnection(head)) return requests;
    at = body.end;
  }
};
