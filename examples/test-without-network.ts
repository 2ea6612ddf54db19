import { strictEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, type PlantClient } from '@plantstore/client';
import { createMemoryRepository } from '@plantstore/core';
import { createFetchHandler } from '@plantstore/server/fetch';

/** The code under test, which receives the client as an argument. */
const adopt = async (client: PlantClient, name: string): Promise<string> =>
  client.createPlant({ id: 7n, name }).match(
    (plant) => `welcome, ${plant.name}`,
    (error) => `not today: ${error.kind === 'refused' ? error.name : error.kind}`,
  );

await test('accepts a plant, and rejects another one with the same id', async () => {
  const fetch = createFetchHandler({
    repository: createMemoryRepository(),
    authenticate: (token) => token === 'test',
  });
  const client = createClient({ baseUrl: 'http://plants.test', token: 'test', fetch });
  strictEqual(await adopt(client, 'Monstera'), 'welcome, Monstera');
  strictEqual(await adopt(client, 'Ficus'), 'not today: id-taken');
});
