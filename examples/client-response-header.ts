import { createClient } from '@plantstore/client';

const { PLANTSTORE_URL = 'http://127.0.0.1:3000', PLANTSTORE_TOKEN = '' } = process.env;

let serverTime: string | null = null;

const client = createClient({
  baseUrl: PLANTSTORE_URL,
  token: PLANTSTORE_TOKEN,
  // Called once for each attempt. Do not read the body here: the client reads it.
  fetch: async (url, init) => {
    const response = await fetch(url, init);
    serverTime = response.headers.get('Date');
    return response;
  },
});

const created = await client.createPlant({ id: 17n, name: 'Monstera' });
console.log(created.isOk() ? `created, ${serverTime}` : created.error.message);
