import { once } from 'node:events';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { connectRaw, parseResponses } from '@plantstore/test-support/raw-http';
import { runsAll, sample } from '@plantstore/test-support/sample';
import { describe, expect, it } from 'vitest';
import { goodFields, head, listen, maxBodyBytes, post, responses } from '../../test/listen.ts';
import { drain } from './connection/endings.ts';

const notHttp = '<hello>\r\n\r\n';
const withBody = (length: number) => head(['Host: a', `Content-Length: ${length}`]);

/** Connects, and resolves `closed` with the server's socket once the server has closed it. */
const connect = async () => {
  const { server, port } = await listen();
  const closed = new Promise<Socket>((resolve) => {
    server.on('connection', (socket: Socket) => socket.once('close', () => resolve(socket)));
  });
  return { socket: (await connectRaw(port)).socket, closed };
};

it('input is dropped up to a limit, and its end is reported once', async () => {
  const input = new PassThrough();
  let ends = 0;
  drain(input, 60_000, () => (ends += 1));
  const chunk = Buffer.alloc(2 ** 25);
  input.write(chunk);
  input.write(chunk);
  expect(ends).toBe(0);
  input.write(chunk);
  input.write(chunk);
  input.destroy();
  await once(input, 'close');
  expect(ends).toBe(1);
});

it('input that ends without a close, as that of a simulated request, has ended', async () => {
  const input = new PassThrough({ autoDestroy: false });
  const ended = new Promise<void>((resolve) => drain(input, 2 ** 31 - 1, resolve));
  input.end('x');
  await ended;
  await new Promise<void>((resolve) => drain(input, 2 ** 31 - 1, resolve));
});

describe('connection whose client does not close it after the last response', () => {
  it('a connection whose client does not close it after the last response stays open long enough for a slow client to read the response', async () => {
    const durationMs = async (bytes: string): Promise<number> => {
      const sentAt = performance.now();
      const { socket, closed } = await connect();
      socket.write(bytes);
      await closed;
      socket.destroy();
      return performance.now() - sentAt;
    };
    // Timers may fire a millisecond early.
    expect(await durationMs(notHttp)).toBeGreaterThan(490);
    // A request that HTTP can read has ten times as long.
    if (runsAll) expect(await durationMs(withBody(9_999))).toBeGreaterThan(4_990);
  });

  const mebibyte = 1_048_576;
  const endless = [
    ['after bytes that are not HTTP', notHttp, 65],
    // As many bytes again may arrive while the connection closes.
    ['of an unwanted body', withBody(1e12), 2 * 65],
    [
      'of a body above maxBodyBytes',
      head([...goodFields, 'Content-Length: 1000000000000']),
      2 * 65,
    ],
  ] as const;
  it.each(sample(endless, 2))(
    'a connection whose client does not close it after the last response is closed when too many bytes arrive %s',
    async (_, bytes, maxMebibytes) => {
      const { socket, closed } = await connect();
      const chunk = Buffer.alloc(mebibyte, 'x');
      const sendChunk = (): void => {
        socket.write(chunk, (error) => {
          if (!error) sendChunk();
        });
      };
      socket.write(bytes);
      sendChunk();
      const { bytesRead } = await closed;
      socket.destroy();
      expect(bytesRead).toBeLessThan(maxMebibytes * mebibyte);
    },
  );
});

describe('connection whose request has an unwanted body', () => {
  it('a connection whose request has an unwanted body serves the next request if the body is as long as maxBodyBytes', async () => {
    const { port } = await listen();
    const { socket, until } = await connectRaw(port);
    socket.write(withBody(maxBodyBytes) + 'x'.repeat(maxBodyBytes) + post(7));
    const received = parseResponses(await until(responses(2)));
    expect(received.map(({ status }) => status)).toEqual([401, 200]);
    expect(received[0]?.headers['connection']).toBe('keep-alive');
    socket.destroy();
  });

  it('a connection whose request has an unwanted body is closed if the body is longer than maxBodyBytes', async () => {
    const { port } = await listen();
    const { socket, ended } = await connectRaw(port);
    socket.write(withBody(maxBodyBytes + 1) + 'x'.repeat(maxBodyBytes + 1) + post(7));
    const received = parseResponses(await ended);
    expect(received).toMatchObject([{ status: 401, headers: { connection: 'close' } }]);
    socket.destroy();
  });
});
