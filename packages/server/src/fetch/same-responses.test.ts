import { createMemoryRepository } from '@plantstore/core';
import { parseResponses } from '@plantstore/test-support/raw-http';
import { expect, it } from 'vitest';
import { closing, kept, served } from '../../test/cases.ts';
import { goodFields, head, maxBodyBytes, open, post } from '../../test/listen.ts';
import { createFetchHandler } from './create-fetch-handler.ts';

/** Heads that every server passes to a handler unchanged. Node's parser refuses other methods. */
const passedOn =
  /^(?:DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT) \/\S* HTTP\/1\.1(?:\r\n[\w-]+:[\t\x20-\x7e\x80-\xff]*)+$/;

/** Returns a Request for these bytes; `undefined` if a Request cannot represent them. */
const requestOf = (bytes: string): Request | undefined => {
  const [start = '', text = ''] = bytes.split(/\r\n\r\n(.*)/s);
  if (!passedOn.test(start) || start.length > 16_384) return undefined;
  const [line = '', ...lines] = start.split('\r\n');
  const [method = '', target = ''] = line.split(' ');
  const fields = lines.map((field): [string, string] => {
    const [name = '', value = ''] = field.split(/:(.*)/s);
    return [name, value.replaceAll(/^[ \t]+|[ \t]+$/g, '')];
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
    Number(headers.get('Content-Length') ?? 0) === text.length;
  const hasBody = text !== '' && method !== 'GET' && method !== 'HEAD';
  const body = hasBody ? { body: Buffer.from(text, 'latin1') } : {};
  return isSame ? new Request(href, { method, headers, ...body }) : undefined;
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

const origin = 'https://garden.example';
const fromPage = ['Host: a', `Origin: ${origin}`];

const cases = [
  ...[...closing, ...kept].map(([, what, bytes]) => [what, bytes] as const),
  ...served,
  ['a page', post(7).replace('\r\n', `\r\nOrigin: ${origin}\r\n`)] as const,
  ['a preflight', head(fromPage, 'OPTIONS /plants HTTP/1.1')] as const,
  ['HEAD', head(['Host: a'], 'HEAD /plants HTTP/1.1')] as const,
  ['a body in text', `${head([...goodFields, 'Content-Length: 12'])}{"id": "\xc3\xa9"}`] as const,
].flatMap(([what, bytes]) => {
  const request = requestOf(bytes);
  return request === undefined ? [] : [[what, bytes, request] as const];
});

it('the fetch handler and the server share more than 70 test cases', () => {
  expect(cases.length).toBeGreaterThan(70);
});

it.each(cases)(
  'the fetch handler and the server give the same response: %s',
  async (_, bytes, request) => {
    const options = { corsOrigins: [origin] };
    const { socket, ended } = await open(options);
    socket.end(Buffer.from(bytes, 'latin1'));
    const fromServer = parseResponses(await ended).find(({ status }) => status !== 100);
    const response = await createFetchHandler({
      repository: createMemoryRepository(),
      authenticate: (token) => token === 'good',
      maxBodyBytes,
      ...options,
    })(request);
    const body = Buffer.from(await response.arrayBuffer()).toString('latin1');
    expect({
      status: response.status,
      fields: withoutConnection(response.headers),
      body,
    }).toEqual({
      status: fromServer?.status,
      fields: withoutConnection(Object.entries(fromServer?.headers ?? {})),
      body: fromServer?.body,
    });
  },
);
