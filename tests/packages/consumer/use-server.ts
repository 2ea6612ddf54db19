import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@plantstore/client';
import { createMemoryRepository } from '@plantstore/core';
import { createRequestListener } from '@plantstore/server';

export type { FetchHandler } from '@plantstore/server/fetch';

const repository = createMemoryRepository();
const authenticate = (token: string): boolean => token === 'let-me-in';
const server = createServer(
  createRequestListener({ repository, authenticate, basePath: '/garden/v1' }),
);
server.listen(0, '127.0.0.1');
await once(server, 'listening');

const { port } = server.address() as AddressInfo;
const baseUrl = `http://127.0.0.1:${port}/garden/v1`;

/** Creates a plant through the client and returns its name, or the error. */
const create = async (name: string, token = 'let-me-in'): Promise<string> => {
  const created = await createClient({ baseUrl, token }).createPlant({ id: -(2n ** 63n), name });
  return created.match(
    (plant) => plant.name,
    (error) => (error.kind === 'refused' ? error.name : error.message),
  );
};

const outcomes = [await create('Monstera'), await create('Ficus'), await create('Ficus', 'no')];
console.log(outcomes.join('; '));
server.close();
