import { createClient } from '@plantstore/client';

/** The responses of the plant store, in order. */
const responses = [
  new Response('{"error":3503,"message":"busy"}', { status: 503 }),
  new Response('{"name":"Monstera"}'),
];

const client = createClient({
  baseUrl: 'http://plants.test',
  token: 'any',
  fetch: async () => responses.shift() ?? new Response(null, { status: 500 }),
  // Tests do not wait for the random backoff.
  retryDelayMs: 0,
});

const created = await client.createPlant({ id: 14n, name: 'Monstera' });
console.log(created.isOk() ? `created ${created.value.name}` : created.error.message);
