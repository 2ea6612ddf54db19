import type { RequestListener, ServerResponse } from 'node:http';
import compression from '@polka/compression';
import { parseResponses, connectRaw, sendRaw } from '@plantstore/test-support/raw-http';
// @ts-expect-error It has no types.
import untyped from 'on-headers';
import { describe, expect, it } from 'vitest';
import { goodFields, head, listen, maxBodyBytes, post } from '../../test/listen.ts';

const onHeaders = untyped as (response: ServerResponse, listener: () => void) => void;

/** What wraps a response before the listener of the service is called. */
const wrappers: Readonly<Record<string, RequestListener>> = {
  // morgan 1.10.0, express-session 1.18.1 and response-time 2.3.3 wrap a response with it.
  'on-headers': (_, response) => onHeaders(response, () => {}),
  // As the routes of Next.js do.
  '@polka/compression': (request, response) => compression()(request, response, () => {}),
};

const withId = (request: string) => request.replace('\r\n', '\r\nX-Request-Id: 7\r\n');
const gzip = (request: string) => request.replace('\r\n', '\r\nAccept-Encoding: gzip\r\n');
const bearer = 'Bearer realm="plantstore"';

describe.each(Object.entries(wrappers))('a response that %s has wrapped', (name, wrap) => {
  it.each([
    ['to a plant', post(7), 200, {}],
    ['to a request without a token', head(['Host: a']), 401, { 'www-authenticate': bearer }],
    ['to another method', head(['Host: a'], 'GET /plants HTTP/1.1'), 405, { allow: 'POST' }],
  ])(
    `a response that ${name} has wrapped has each field %s`,
    async (_, request, status, fields) => {
      const { server, port } = await listen();
      server.prependListener('request', wrap);
      const response = await sendRaw(port, gzip(withId(request)));
      expect(response.status).toBe(status);
      expect(response.headers).toMatchObject({
        'content-type': 'application/json',
        'content-length': `${response.body.length}`,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-request-id': '7',
        ...fields,
      });
    },
  );

  it(`a response that ${name} has wrapped ends the connection after a body that is too large`, async () => {
    const { server, port } = await listen();
    server.prependListener('request', wrap);
    const { socket, ended } = await connectRaw(port);
    const large = head([...goodFields, `Content-Length: ${maxBodyBytes + 1}`]);
    socket.write(gzip(large) + 'x'.repeat(maxBodyBytes + 1));
    expect(parseResponses(await ended)).toMatchObject([
      { status: 413, headers: { connection: 'close' } },
    ]);
    socket.destroy();
  });
});
