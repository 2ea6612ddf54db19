import { createClient } from '@plantstore/client';

const { PLANTSTORE_URL = 'http://127.0.0.1:3000', PLANTSTORE_TOKEN = '' } = process.env;

/** For a gateway with side effects that must not be repeated. */
const client = createClient({ baseUrl: PLANTSTORE_URL, token: PLANTSTORE_TOKEN, retries: 0 });

const created = await client.createPlant({ id: 15n, name: 'Monstera' });
console.log(created.isOk() ? 'created' : created.error.message);
