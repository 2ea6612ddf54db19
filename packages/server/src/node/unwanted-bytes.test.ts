import { expect, it } from 'vitest';
import {
  goodFields,
  head,
  maxBodyBytes,
  open,
  post,
  responses,
  responsesTo,
  statusesOf,
} from '../../test/listen.ts';

const notHttp = '<hello>\r\n\r\n';
const withBody = (length: number) => head(['Host: a', `Content-Length: ${length}`]);

it('a connection whose client does not close it stays open long enough for a slow client to read the last response', async () => {
  const durationMs = async (bytes: string): Promise<number> => {
    const sentAt = performance.now();
    const { socket, closed } = await open();
    socket.write(bytes);
    await closed;
    return performance.now() - sentAt;
  };
  // Timers may fire a millisecond early.
  expect(await durationMs(notHttp)).toBeGreaterThan(490);
  // A request that HTTP can read has ten times as long.
  expect(await durationMs(withBody(9_999))).toBeGreaterThan(4_990);
});

const mebibyte = 1_048_576;

it.each([
  ['after bytes that are not HTTP', notHttp, 65],
  // As many bytes again may arrive while the connection closes.
  ['of an unwanted body', withBody(1e12), 2 * 65],
  ['of a body above maxBodyBytes', head([...goodFields, 'Content-Length: 1000000000000']), 2 * 65],
] as const)(
  'a connection is closed when too many bytes arrive after the last response %s',
  async (_, bytes, maxMebibytes) => {
    const { socket, peer, closed } = await open();
    const chunk = Buffer.alloc(mebibyte, 'x');
    const sendChunk = (): void => {
      socket.write(chunk, (error) => {
        if (!error) sendChunk();
      });
    };
    socket.write(bytes);
    sendChunk();
    await closed;
    expect(peer.bytesRead).toBeLessThan(maxMebibytes * mebibyte);
  },
);

it('a connection serves the next request after an unwanted body that is as long as maxBodyBytes, and is closed for a longer one', async () => {
  const { socket, until } = await open();
  socket.write(withBody(maxBodyBytes) + 'x'.repeat(maxBodyBytes) + post(7));
  expect(statusesOf(await until(responses(2)))).toEqual([401, 200]);
  const longer = withBody(maxBodyBytes + 1) + 'x'.repeat(maxBodyBytes + 1) + post(7);
  expect(await responsesTo(longer)).toMatchObject([
    { status: 401, headers: { connection: 'close' } },
  ]);
});
