import { type NewPlant, parseNewPlant } from '@plantstore/core';
import { decodeBody } from '@plantstore/core/wire';
import { maxBodyBytes, token } from './grammar.ts';

/** A request, whose framing is parsed independently of Node. */
export type ReadRequest = {
  readonly method: string;
  readonly hasToken: boolean;
  /** The plant that the request may create, as text, if its body is one. */
  readonly plant: string | undefined;
  /** Whether the request is complete; an incomplete request may have a response, too. */
  readonly isComplete: boolean;
};

/** Parses the bytes of a client, up to the first incomplete or malformed request. */
export const readRequests = (bytes: Buffer): readonly ReadRequest[] => {
  const text = bytes.toString('latin1');
  const requests: ReadRequest[] = [];
  let at = 0;
  for (;;) {
    at += /^[\r\n]*/.exec(text.slice(at))?.[0].length ?? 0;
    const headEnd = text.indexOf('\r\n\r\n', at);
    if (headEnd === -1 || headEnd - at > maxHeadBytes) return requests;
    const [first = '', ...lines] = text.slice(at, headEnd).split('\r\n');
    const [, method, version] = requestLine.exec(first) ?? [];
    const fields = readFields(lines);
    if (method === undefined || fields === undefined) return requests;
    const isOld = version === '1.0';
    const body = readBody(text, headEnd + 4, fields, isOld);
    const [authorization = '', ...more] = fields.get('authorization') ?? [];
    const hasToken = more.length === 0 && bearer.test(authorization);
    const isRead = hasToken && method === 'POST' && (body?.bytes.length ?? 0) <= maxBodyBytes;
    const plant = isRead && body !== undefined ? readPlant(body.bytes) : undefined;
    requests.push({ method, hasToken, plant, isComplete: body !== undefined });
    const connection = fields.get('connection') ?? (isOld ? ['close'] : []);
    const isLast =
      method === 'CONNECT' || fields.has('upgrade') || /close/i.test(connection.join());
    if (body === undefined || isLast) return requests;
    at = body.end;
  }
};

/** Returns a plant as text, for comparisons. */
export const toText = ({ id, name, tag = '' }: NewPlant): string => [id, name, tag].join();

/** The corpus tests how a body is read. */
const readPlant = (bytes: Buffer): string | undefined =>
  decodeBody(bytes).andThen(parseNewPlant).map(toText).unwrapOr(undefined);

/** Node's parser accepts RTSP like HTTP, and does not report which of the two it was. */
const requestLine = /^([\w!#$%&'*+.^`|~-]+) +[\x21-\x7e]+ +(?:HTTP|RTSP)\/(1\.[01])$/;
const fieldLine = /^([\w!#$%&'*+.^`|~-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*$/;
const bearer = new RegExp(`^Bearer +${token}$`, 'i');
/** No generated request is near this limit. */
const maxHeadBytes = 16_000;

type Fields = ReadonlyMap<string, readonly string[]>;

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

const readBody = (text: string, start: number, fields: Fields, isOld: boolean) => {
  const lengths = fields.get('content-length') ?? [];
  const codings = fields.get('transfer-encoding') ?? [];
  if (codings.length > 0) {
    const isChunked = codings.length === 1 && codings[0]?.toLowerCase() === 'chunked';
    return lengths.length === 0 && isChunked && !isOld ? readChunks(text, start) : undefined;
  }
  const [length = '0'] = lengths;
  const end = start + Number(length);
  if (lengths.length > 1 || !/^\d+$/.test(length) || end > text.length) return undefined;
  return { bytes: Buffer.from(text.slice(start, end), 'latin1'), end };
};

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
  if (trailers === undefined) return undefined;
  const isFraming = trailers.has('content-length') || trailers.has('transfer-encoding');
  return isFraming ? undefined : { bytes, end: end + 4 };
};
