import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '@plantstore/client';

const clientOf = (response: Response) =>
  createClient({ baseUrl: 'http://plants.test', token: 'any', fetch: async () => response });

const plant = { id: 7n, name: 'Ficus' };

await test('creates a plant', async () => {
  const created = await clientOf(new Response('{"name":"Ficus"}')).createPlant(plant);
  // Throws if the result is an error.
  deepStrictEqual(created._unsafeUnwrap(), { name: 'Ficus' });
});

await test('reports a redirect', async () => {
  const created = await clientOf(new Response(null, { status: 302 })).createPlant(plant);
  // Throws if the result is a plant.
  strictEqual(created._unsafeUnwrapErr().kind, 'unexpected-status');
});
