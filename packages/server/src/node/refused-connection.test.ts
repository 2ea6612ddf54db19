import { once } from 'node:events';
import { type ErrorName, errorTable } from '@plantstore/core/errors';
import { describe, expect, it } from 'vitest';
import { errorOf, goodFields, head, listen, post } from '../../test/listen.ts';
import { connectRaw, parseResponses, sendRaw } from '../../test/raw-http.ts';

describe('HTTP that Node refuses, and HTTP that the service refuses', () => {
  it.each<[ErrorName, string, string]>([
    ['bad-request', 'what is not HTTP', 'hello\r\n\r\n'],
    ['bad-request', 'a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['bad-request', 'a request line without a version', 'BREW /plants\r\n\r\n'],
    ['bad-request', 'a version HTTP does not have', 'GET /plants HTTP/7.7\r\n\r\n'],
    ['bad-request', 'no Host', head([], 'GET /plants HTTP/1.1')],
    ['bad-request', 'two Hosts', head(['Host: a', 'Host: a'], 'GET /plants HTTP/1.1')],
    ['bad-request', 'a space before a colon', head(['Host : a'], 'GET /plants HTTP/1.1')],
    ['bad-request', 'a folded header', head(['Host: a', 'X: b', ' c'], 'GET /plants HTTP/1.1')],
    ['bad-request', 'two lengths', head([...goodFields, 'Content-Length: 1', 'Content-Length: 1'])],
    ['bad-request', 'a length that is no number', head([...goodFields, 'Content-Length: x'])],
    [
      'bad-request',
      'a length and chunks',
      head([...goodFields, 'Content-Length: 1', 'Transfer-Encoding: chunked']),
    ],
    [
      'bad-request',
      'chunks and a length',
      head([...goodFields, 'Transfer-Encoding: chunked', 'Content-Length: 1']),
    ],
    [
      'bad-request',
      'a broken chunk',
      `${head([...goodFields, 'Transfer-Encoding: chunked'])}x\r\n`,
    ],
    ['path-unknown', 'CONNECT', head(['Host: a:1'], 'CONNECT a:1 HTTP/1.1')],
    ['path-unknown', 'the asterisk', head(['Host: a'], 'OPTIONS * HTTP/1.1')],
    ['method-not-allowed', 'TRACE', head(['Host: a'], 'TRACE /plants HTTP/1.1')],
    [
      'method-not-allowed',
      'an upgrade',
      head(['Host: a', 'Connection: Upgrade', 'Upgrade: websocket'], 'GET /plants HTTP/1.1'),
    ],
    [
      'expectation-failed',
      'another expectation',
      head([...goodFields, 'Expect: miracles', 'Content-Length: 3']),
    ],
    ['headers-too-large', 'headers past the limit', head(['Host: a', `X: ${'x'.repeat(20_000)}`])],
    [
      'headers-too-large',
      'very many headers',
      head(['Host: a', ...Array<string>(5000).fill('X: y')]),
    ],
    ['not-implemented', 'a method HTTP does not know', head(['Host: a'], 'BREW /plants HTTP/1.1')],
    [
      'not-implemented',
      'another transfer encoding',
      head([...goodFields, 'Transfer-Encoding: gzip']),
    ],
    [
      'not-implemented',
      'two transfer encodings',
      head([...goodFields, 'Transfer-Encoding: gzip, chunked']),
    ],
  ])('answers %s to %s, as JSON with the promised headers', async (name, _, bytes) => {
    const { port } = await listen();
    const { status, headers, body } = await sendRaw(port, bytes);
    expect({ status, error: errorOf(body) }).toEqual({
      status: errorTable[name].status,
      error: errorTable[name].error,
    });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(body.length),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      date: expect.stringMatching(/GMT$/) as unknown,
    });
  });

  it('ends the connection after HTTP that it cannot parse', async () => {
    const { port } = await listen();
    const { socket, ended } = await connectRaw(port);
    socket.write('hello\r\n\r\n');
    const [response] = parseResponses(await ended);
    expect(response).toMatchObject({ status: 400, headers: { connection: 'close' } });
    socket.destroy();
  });

  it('answers 408 to a head and to a body that are too slow', async () => {
    const { port } = await listen({ headersTimeoutMs: 100, requestTimeoutMs: 200 });
    const begun = [
      'POST /plants HT',
      head([...goodFields, 'Content-Length: 10']),
      `${head([...goodFields, 'Content-Length: 10'])}{"id"`,
    ];
    const waited = begun.map(async (bytes) => {
      const { socket, ended } = await connectRaw(port);
      socket.write(bytes);
      const [response] = parseResponses(await ended);
      socket.destroy();
      return response;
    });
    for (const response of await Promise.all(waited)) {
      expect(response).toMatchObject({ status: 408, headers: { connection: 'close' } });
      expect(errorOf(response?.body ?? '')).toBe(2408);
    }
  });

  it('answers HEAD without a body', async () => {
    const { port } = await listen();
    const { socket, until } = await connectRaw(port);
    socket.write(head(['Host: a', 'Connection: close'], 'HEAD /plants HTTP/1.1'));
    expect(await until((text) => text.endsWith('\r\n\r\n'))).toMatch(/^HTTP\/1.1 405 /);
    socket.destroy();
  });
});

describe('a client that leaves', () => {
  it('does no harm in the middle of its body, before its answer, or after CONNECT', async () => {
    const { port } = await listen();
    const begun = [
      head([...goodFields, 'Content-Length: 900']),
      post(7),
      'hello\r\n\r\n',
      ...Array<string>(50).fill(head(['Host: a:1'], 'CONNECT a:1 HTTP/1.1')),
    ];
    for (const bytes of begun) {
      const { socket } = await connectRaw(port);
      socket.write(bytes, () => socket.resetAndDestroy());
      await once(socket, 'close');
    }
    expect((await sendRaw(port, post(8))).status).toBe(200);
  });
});
