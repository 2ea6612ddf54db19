import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createMemoryRepository } from '@plantstore/core';
import { parseResponses } from '@plantstore/test-support/raw-http';
import { onTestFinished } from 'vitest';
import { createHttpServer, type HttpServerOptions } from '../src/node/create-http-server.ts';

export const maxBodyBytes = 1000;

/** Starts a server that accepts the token `good`, and closes it after the test. */
export const listen = async (options: Partial<HttpServerOptions> = {}) => {
  const server = createHttpServer({
    repository: createMemoryRepository(),
    authenticate: (token) => token === 'good',
    maxBodyBytes,
    ...options,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return { server, port };
};

export const plant = (id: number) => `{"id":${id},"name":"Monstera"}`;

/** Returns a request head with these fields. */
export const head = (fields: readonly string[], line = 'POST /plants HTTP/1.1') =>
  [line, ...fields, '', ''].join('\r\n');

export const goodFields = [
  'Host: localhost',
  'Authorization: Bearer good',
  'Content-Type: application/json',
] as const;

export const post = (id: number) =>
  head([...goodFields, `Content-Length: ${plant(id).length}`]) + plant(id);

export const chunked = (...chunks: string[]) =>
  head([...goodFields, 'Transfer-Encoding: chunked']) +
  [...chunks, ''].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');

export const errorOf = (body: string) => (JSON.parse(body) as { error: number }).error;

/** Returns a function that checks whether a text has at least `count` complete responses. */
export const responses = (count: number) => (text: string) => {
  const found = parseResponses(text);
  return found.length >= count && (found.at(-1)?.body.length ?? 0) > 0;
};
