import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { memoryInUse } from '@plantstore/test-support/memory';
import { sendRaw } from '@plantstore/test-support/raw-http';
import { describe, expect, it } from 'vitest';
import {
  chunked,
  errorOf,
  goodFields,
  head,
  listen,
  maxBodyBytes,
  open,
  plant,
  responses,
  statusesOf,
} from '../../test/listen.ts';

describe('body above maxBodyBytes', () => {
  it.each([
    ['declared', { 'Content-Length': '5000000' }],
    ['chunked', { 'Transfer-Encoding': 'chunked' }],
  ])(
    "a body above maxBodyBytes gets a response that Node's client can read if the body is %s",
    async (_, framing) => {
      const { port } = await listen();
      const authorized = { Authorization: 'Bearer good', 'Content-Type': 'application/json' };
      const options = { port, host: '127.0.0.1', method: 'POST', path: '/plants' };
      const request = httpRequest({ ...options, headers: { ...authorized, ...framing } });
      // The connection may end before all of the body is sent, but not before the response.
      request.on('error', () => {});
      request.end('x'.repeat(5_000_000));
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      expect(response).toMatchObject({ statusCode: 413, headers: { connection: 'close' } });
      expect(errorOf(await text(response))).toBe(2413);
    },
  );

  it('a body above maxBodyBytes is refused from the first byte above the limit', async () => {
    const { port } = await listen();
    const longest = plant(7).padEnd(maxBodyBytes, ' ');
    expect((await sendRaw(port, chunked(longest))).status).toBe(200);
    expect((await sendRaw(port, chunked(longest, ' '))).status).toBe(413);
  });
});

it('a body in chunks of one byte takes at most about twice its size in memory', async () => {
  const size = 200_000;
  const { socket, until, peer } = await open({ maxBodyBytes: size });
  const chunks = Buffer.from(
    head([...goodFields, 'Transfer-Encoding: chunked']) +
      plant(7).padEnd(size, ' ').replaceAll(/./g, '1\r\n$&\r\n'),
  );
  const before = memoryInUse();
  socket.write(chunks);
  while (peer.bytesRead < chunks.length) await sleep(2);
  expect(memoryInUse() - before).toBeLessThan(3 * size);
  socket.write('0\r\n\r\n');
  expect(statusesOf(await until(responses(1)))).toEqual([200]);
});
