import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import { connectRaw, parseResponses } from '@plantstore/test-support/raw-http';
import { ResultAsync } from 'neverthrow';
import { onTestFinished } from 'vitest';
import { createHttpServer, type HttpServerOptions } from '../src/node/create-http-server.ts';

export const maxBodyBytes = 1000;

/** Timeouts that are too long for Node to end a connection before the server does. */
export const untimed = {
  headersTimeoutMs: 86_400_000,
  requestTimeoutMs: 86_400_000,
  keepAliveTimeoutMs: 86_400_000,
};

/** Starts a server that accepts the token `good`, and closes it after the test. */
export const listen = async (options: Partial<HttpServerOptions> = {}) => {
  const server = createHttpServer({
    repository: createMemoryRepository(),
    authenticate: (token) => token === 'good',
    maxBodyBytes,
    ...untimed,
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

/** Connects a client that is disconnected after the test. */
export const connectTo = async (port: number, connect = connectRaw) => {
  const connection = await connect(port);
  onTestFinished(() => void connection.socket.destroy());
  return connection;
};

/** Starts a server with one client. `peer` is its socket in the server, until `closed` resolves. */
export const open = async (options: Partial<HttpServerOptions> = {}) => {
  const { server, port } = await listen(options);
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const connection = await connectTo(port);
  const [peer] = await accepted;
  const closed = new Promise<void>((resolve) => void peer.once('close', () => resolve()));
  return { server, port, ...connection, peer, closed };
};

/** Returns the responses to bytes on a connection of their own, once the server has ended it. */
export const responsesTo = async (bytes: string, options: Partial<HttpServerOptions> = {}) => {
  const { socket, ended } = await open(options);
  socket.write(bytes);
  return parseResponses(await ended);
};

/** Returns a repository that creates plants after a delay, and the ids that it was given. */
export const recordPlants = (delayMs = 0) => {
  const inner = createMemoryRepository();
  const created: bigint[] = [];
  const repository: PlantRepository = {
    create: (newPlant) => {
      created.push(newPlant.id);
      const delay = new Promise((resolve) => void setTimeout(resolve, delayMs));
      return ResultAsync.fromSafePromise(delay).andThen(() => inner.create(newPlant));
    },
  };
  return { repository, created };
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

export const statusesOf = (text: string) => parseResponses(text).map(({ status }) => status);

/** Returns a function that checks whether a text has at least `count` complete responses. */
export const responses = (count: number) => (text: string) => {
  const found = parseResponses(text);
  return found.length >= count && (found.at(-1)?.body.length ?? 0) > 0;
};
