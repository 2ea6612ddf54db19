import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connectRaw, parseResponses, sendRaw } from '@plantstore/test-support/raw-http';
import { describe, expect, it } from 'vitest';
import { errorOf, goodFields, head, listen, plant, post, responses } from '../../test/listen.ts';
import { onDemand } from '../../test/on-demand.ts';
import { recordLog } from '@plantstore/test-support/record-log';

describe('a connection error', () => {
  it('a head or a body that is too slow gets 408', async () => {
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

  it('a connection gets 408 if its head is too slow, although a request may take longer', async () => {
    const { port } = await listen({ headersTimeoutMs: 100 });
    const { socket, ended } = await connectRaw(port);
    socket.write('POST /plants HT');
    expect(parseResponses(await ended)).toMatchObject([{ status: 408 }]);
    socket.destroy();
  });

  const later = `Content-Length: ${plant(7).length}`;

  it.each<[string, before: string, after: string, statuses: number[]]>([
    ['its body', head([...goodFields, later]), plant(7), [200]],
    ['a part of its body', head([...goodFields, later]) + plant(7)[0], plant(7).slice(1), [200]],
    ['the body behind it', post(6) + head([...goodFields, later]), plant(7), [200, 200]],
    ['the head behind it', `${post(6)}POST /pl`, post(7).slice(8), [200, 200]],
    ['nothing more', head([...goodFields, later]), '', [408]],
    ['a part of the head behind it', `${post(6)}POST /pl`, 'ants', [200, 408]],
  ])(
    'a connection that is not read has no timeout while a request waits for its admission and %s arrives',
    async (_, before, after, statuses) => {
      const tokens = Promise.withResolvers<boolean>();
      const asked = Promise.withResolvers<void>();
      const authenticate = async () => {
        asked.resolve();
        return tokens.promise;
      };
      const { port, server } = await listen({
        authenticate,
        headersTimeoutMs: 100,
        requestTimeoutMs: 100,
      });
      const { socket, until, ended } = await connectRaw(port);
      socket.write(before);
      await asked.promise;
      socket.write(after);
      await once(server, 'clientError');
      tokens.resolve(true);
      const text = await (statuses.includes(408) ? ended : until(responses(statuses.length)));
      expect(parseResponses(text).map(({ status }) => status)).toEqual(statuses);
      socket.destroy();
    },
  );

  it('a connection with a timeout does not serve the request that arrives completely after it', async () => {
    const { repository, until, completeAll } = onDemand();
    const { port, server } = await listen({ repository, headersTimeoutMs: 100 });
    const arrived: unknown[] = [];
    server.on('request', (request) => arrived.push(request.method));
    const { socket, ended } = await connectRaw(port);
    socket.write(`${post(6)}POST /pl`);
    await until(1);
    const [, peer] = (await once(server, 'clientError')) as [unknown, Socket];
    socket.write(post(7).slice(8));
    await expect.poll(() => peer.bytesRead).toBe(post(6).length + post(7).length);
    completeAll();
    expect(parseResponses(await ended).map(({ status }) => status)).toEqual([200, 408]);
    expect(arrived).toEqual(['POST']);
    socket.destroy();
  });

  it('a connection error gets a response without a body for HEAD', async () => {
    const { port } = await listen();
    const { socket, until } = await connectRaw(port);
    socket.write(head(['Host: a', 'Connection: close'], 'HEAD /plants HTTP/1.1'));
    expect(await until((text) => text.endsWith('\r\n\r\n'))).toMatch(/^HTTP\/1.1 405 /);
    socket.destroy();
  });
});

it('bytes that cannot be parsed get one response, also if their timeout comes before it', async () => {
  const tokens = Promise.withResolvers<boolean>();
  const authenticate = async () => tokens.promise;
  const { port, server } = await listen({ authenticate, headersTimeoutMs: 100 });
  const { socket, ended } = await connectRaw(port);
  socket.write(`${post(7)}POST /plants HTTP/1.1\r\n<`);
  await once(server, 'clientError');
  await once(server, 'clientError');
  tokens.resolve(true);
  expect(parseResponses(await ended)).toMatchObject([{ status: 200 }, { status: 400 }]);
  socket.destroy();
});

describe('client that disconnects', () => {
  it('a client that disconnects leaves the server working: during its body, before its response, and after CONNECT', async () => {
    const { port } = await listen();
    const begun = [
      head([...goodFields, 'Content-Length: 900']),
      post(7),
      '<hello>\r\n\r\n',
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

it.each([
  ['HPE_INVALID_METHOD', '<hello>\r\n\r\n'],
  ['HPE_INVALID_METHOD', '\u0016\u0003\u0001 a client of TLS'],
  [
    'HPE_UNEXPECTED_CONTENT_LENGTH',
    head([...goodFields, 'Content-Length: 2', 'Content-Length: 2']),
  ],
  ['HPE_INVALID_CHUNK_SIZE', `${head([...goodFields, 'Transfer-Encoding: chunked'])}zz\r\n`],
  ['HPE_HEADER_OVERFLOW', head([`X: ${'x'.repeat(20_000)}`])],
])('the log has the code of a parse error: %s for %j', async (code, bytes) => {
  const { logged, logger } = recordLog();
  const { port } = await listen({ logger });
  const { socket, ended } = await connectRaw(port);
  socket.write(bytes);
  await ended;
  await expect.poll(() => logged).toMatchObject([{ message: 'request', code }]);
});
