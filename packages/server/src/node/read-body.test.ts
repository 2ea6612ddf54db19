import { setTimeout as sleep } from 'node:timers/promises';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { memoryInUse } from '@plantstore/test-support/memory';
import { connectRaw, parseResponses, sendRaw } from '@plantstore/test-support/raw-http';
import { describe, expect, it } from 'vitest';
import {
  chunked,
  errorOf,
  goodFields,
  head,
  listen,
  maxBodyBytes,
  plant,
  responses,
} from '../../test/listen.ts';

describe('body above maxBodyBytes', () => {
  const postLarge = async (port: number, size: number, headers: Record<string, string>) =>
    new Promise<{ status: number; body: string; connection: string | undefined }>(
      (resolve, reject) => {
        const request = httpRequest({
          port,
          host: '127.0.0.1',
          method: 'POST',
          path: '/plants',
          headers: { Authorization: 'Bearer good', 'Content-Type': 'application/json', ...headers },
        });
        request.on('error', reject);
        request.on('response', (response) => {
          let body = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => (body += chunk));
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              body,
              connection: response.headers.connection,
            }),
          );
        });
        request.end('x'.repeat(size));
      },
    );

  it.each([
    ['declared', { 'Content-Length': '5000000' }],
    ['chunked', { 'Transfer-Encoding': 'chunked' }],
  ])(
    'a body above maxBodyBytes gets a response that the client can read if the body is %s',
    async (_, headers) => {
      const { port } = await listen();
      const { status, body, connection } = await postLarge(port, 5_000_000, headers);
      expect({ status, error: errorOf(body), connection }).toEqual({
        status: 413,
        error: 2413,
        connection: 'close',
      });
    },
  );

  it('a body above maxBodyBytes gets a response that the client can read after sending the whole body', async () => {
    const { port } = await listen();
    const { socket, until } = await connectRaw(port);
    socket.pause();
    const size = 20_000_000;
    socket.write(head([...goodFields, `Content-Length: ${size}`]));
    await new Promise<void>((resolve, reject) => {
      socket.write(Buffer.alloc(size, ' '), (error) => (error ? reject(error) : resolve()));
    });
    socket.resume();
    expect(parseResponses(await until(responses(1)))).toMatchObject([{ status: 413 }]);
    socket.destroy();
  });

  it('a body above maxBodyBytes is refused from the first byte above the limit', async () => {
    const { port } = await listen();
    const padded = (size: number) => plant(7).padEnd(size, ' ');
    expect((await sendRaw(port, chunked(padded(maxBodyBytes)))).status).toBe(200);
    expect((await sendRaw(port, chunked(padded(maxBodyBytes), ' '))).status).toBe(413);
  });
});

describe('body in chunks of one byte', () => {
  it('a body in chunks of one byte takes at most about twice its size in memory', async () => {
    const size = 200_000;
    const { server, port } = await listen({ maxBodyBytes: size });
    const connected = once(server, 'connection') as Promise<[Socket]>;
    const { socket, until } = await connectRaw(port);
    const [accepted] = await connected;
    const chunks = Buffer.from(
      head([...goodFields, 'Transfer-Encoding: chunked']) +
        plant(7).padEnd(size, ' ').replaceAll(/./g, '1\r\n$&\r\n'),
    );
    const before = memoryInUse();
    socket.write(chunks);
    while (accepted.bytesRead < chunks.length) await sleep(2);
    expect(memoryInUse() - before).toBeLessThan(3 * size);
    socket.write('0\r\n\r\n');
    expect(parseResponses(await until(responses(1)))).toMatchObject([{ status: 200 }]);
    socket.destroy();
  });
});
