import { connectRaw, parseResponses } from '@plantstore/test-support/raw-http';
import { describe, expect, it } from 'vitest';
import { otherPaths, refusedFraming, servedFraming } from '../../test/framing-cases.ts';
import { listen, maxBodyBytes } from '../../test/listen.ts';
import { createMemoryRepository } from '@plantstore/core';
import { createFetchHandler } from './create-fetch-handler.ts';

/** Heads that every server passes to a handler unchanged. Node's parser refuses other methods. */
const passedOn =
  /^(?:CONNECT|DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT|TRACE) \/\S* HTTP\/1\.1(?:\r\n[\w-]+:[\t\x20-\x7e\x80-\xff]*)+$/;

/** Returns a Request for these bytes; `undefined` if a Request cannot represent them. */
const requestOf = (bytes: string): Request | undefined => {
  const [head = '', body = ''] = bytes.split(/\r\n\r\n(.*)/s);
  if (!passedOn.test(head) || head.length > 16_384) return undefined;
  const [line = '', ...lines] = head.split('\r\n');
  const [method = '', target = ''] = line.split(' ');
  const fields = lines.map((field): [string, string] => {
    const [name = '', value = ''] = field.split(/:(.*)/s);
    return [name, value.trim()];
  });
  const headers = new Headers(fields);
  const { pathname, search, href } = new URL(`http://localhost${target}`);
  const isSame =
    pathname + search === target &&
    headers.has('Host') &&
    [...headers].length === fields.length &&
    // A Request does not represent the framing of its body.
    headers.get('Transfer-Encoding')?.toLowerCase() !== 'chunked' &&
    /^\d+$/.test(headers.get('Content-Length') ?? '0') &&
    Number(headers.get('Content-Length') ?? 0) === body.length;
  const mayBeCreated = isSame && method !== 'CONNECT' && method !== 'TRACE';
  const bytesOfBody = body === '' ? {} : { body: Buffer.from(body, 'latin1') };
  return mayBeCreated ? new Request(href, { method, headers, ...bytesOfBody }) : undefined;
};

const withoutConnection = (fields: Iterable<readonly [string, string]>) => {
  const {
    connection: _,
    date: _date,
    'keep-alive': _keep,
    'x-request-id': id,
    ...rest
  } = Object.fromEntries(fields);
  return { ...rest, hasId: id !== undefined };
};

const cases = [
  ...refusedFraming.map(([, what, bytes]) => [what, bytes] as const),
  ...otherPaths,
  ...servedFraming,
].flatMap(([what, bytes]) => {
  const request = requestOf(bytes);
  return request === undefined ? [] : [[what, bytes, request] as const];
});

describe('fetch handler and the server', () => {
  it('the fetch handler and the server share more than 30 test cases', () => {
    expect(cases.length).toBeGreaterThan(30);
  });

  it.each(cases)(
    'the fetch handler and the server give the same response to %s',
    async (_, bytes, request) => {
      const { port } = await listen();
      const { socket, ended } = await connectRaw(port);
      socket.end(Buffer.from(bytes, 'latin1'));
      const [fromServer] = parseResponses(await ended);
      const handler = createFetchHandler({
        repository: createMemoryRepository(),
        authenticate: (token) => token === 'good',
        maxBodyBytes,
      });
      const response = await handler(request);
      expect({
        status: response.status,
        fields: withoutConnection(response.headers),
        body: await response.text(),
      }).toEqual({
        status: fromServer?.status,
        fields: withoutConnection(Object.entries(fromServer?.headers ?? {})),
        body: fromServer?.body,
      });
    },
  );
});
