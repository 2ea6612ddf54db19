import { once } from 'node:events';
import { recordLog } from '@plantstore/test-support/record-log';
import { describe, expect, it } from 'vitest';
import {
  chunked,
  errorOf,
  goodFields,
  head,
  open,
  plant,
  post,
  responses,
  responsesTo,
  statusesOf,
} from '../../test/listen.ts';
import { onDemand } from '../../test/on-demand.ts';

describe('a timeout', () => {
  it('a timeout of a head or of a body gets 408', async () => {
    const [slowHead, slowRequest] = [{ headersTimeoutMs: 100 }, { requestTimeoutMs: 200 }];
    const received = await Promise.all([
      responsesTo('POST /plants HT', slowHead),
      responsesTo(head([...goodFields, 'Content-Length: 10']), slowRequest),
      responsesTo(`${head([...goodFields, 'Content-Length: 10'])}{"id"`, slowRequest),
    ]);
    for (const all of received) {
      expect(all).toMatchObject([{ status: 408, headers: { connection: 'close' } }]);
      expect(errorOf(all[0]?.body ?? '')).toBe(2408);
    }
  });

  const unread = head([...goodFields, `Content-Length: ${plant(7).length}`]);

  it.each<[string, before: string, after: string, statuses: number[]]>([
    ['its body', unread, plant(7), [200]],
    ['a part of its body', unread + plant(7)[0], plant(7).slice(1), [200]],
    ['the body behind it', post(6) + unread, plant(7), [200, 200]],
    ['the head behind it', `${post(6)}POST /pl`, post(7).slice(8), [200, 200]],
    ['nothing more', unread, '', [408]],
    ['a part of the head behind it', `${post(6)}POST /pl`, 'ants', [200, 408]],
  ])(
    'a timeout does not include the time in which a request waits for its admission, while %s arrives',
    async (_, before, after, statuses) => {
      const tokens = Promise.withResolvers<boolean>();
      const asked = Promise.withResolvers<void>();
      const authenticate = async () => {
        asked.resolve();
        return tokens.promise;
      };
      const timeouts = { headersTimeoutMs: 100, requestTimeoutMs: 100 };
      const { server, socket, until, ended } = await open({ authenticate, ...timeouts });
      socket.write(before);
      await asked.promise;
      socket.write(after);
      await once(server, 'clientError');
      tokens.resolve(true);
      const text = await (statuses.includes(408) ? ended : until(responses(statuses.length)));
      expect(statusesOf(text)).toEqual(statuses);
    },
  );

  it('a timeout behind another request refuses also a request that arrives completely after it', async () => {
    const { repository, until, completeAll } = onDemand();
    const { server, socket, ended, peer } = await open({ repository, headersTimeoutMs: 100 });
    const arrived: unknown[] = [];
    server.on('request', (request) => arrived.push(request.method));
    socket.write(`${post(6)}POST /pl`);
    await until(1);
    await once(server, 'clientError');
    socket.write(post(7).slice(8));
    await expect.poll(() => peer.bytesRead).toBe(post(6).length + post(7).length);
    completeAll();
    expect(statusesOf(await ended)).toEqual([200, 408]);
    expect(arrived).toEqual(['POST']);
  });

  it('a timeout before bytes that cannot be parsed gets no response of its own', async () => {
    const tokens = Promise.withResolvers<boolean>();
    const authenticate = async () => tokens.promise;
    const { server, socket, ended } = await open({ authenticate, headersTimeoutMs: 100 });
    socket.write(`${post(7)}POST /plants HTTP/1.1\r\n<`);
    await once(server, 'clientError');
    await once(server, 'clientError');
    tokens.resolve(true);
    expect(statusesOf(await ended)).toEqual([200, 400]);
  });
});

it('HEAD gets a response without a body, and a log line without bytes', async () => {
  const { logged, logger } = recordLog();
  const { socket, ended } = await open({ logger });
  socket.write(head(['Host: a', 'Connection: close'], 'HEAD /plants HTTP/1.1'));
  expect(await ended).toMatch(/^HTTP\/1.1 405 [^]*\r\n\r\n$/);
  expect(logged).toMatchObject([{ method: 'HEAD', status: 405, bytes: 0 }]);
});

it.each([
  ['HPE_INVALID_METHOD', '<hello>\r\n\r\n'],
  ['HPE_INVALID_METHOD', '\u0016\u0003\u0001 a client of TLS'],
  ['HPE_UNEXPECTED_CONTENT_LENGTH', head(['Content-Length: 2', 'Content-Length: 2'])],
  ['HPE_INVALID_CHUNK_SIZE', `${chunked().slice(0, -5)}zz\r\n`],
  ['HPE_HEADER_OVERFLOW', head([`X: ${'x'.repeat(20_000)}`])],
])('the log has the code of a parse error: %s for %j', async (code, bytes) => {
  const { logged, logger } = recordLog();
  await responsesTo(bytes, { logger });
  await expect.poll(() => logged).toHaveLength(1);
  expect(logged).toMatchObject([{ message: 'request', code }]);
});
