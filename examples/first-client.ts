import { createClient } from '@plantstore/client';

const { PLANTSTORE_URL = 'http://127.0.0.1:3000', PLANTSTORE_TOKEN = '' } = process.env;
const client = createClient({ baseUrl: PLANTSTORE_URL, token: PLANTSTORE_TOKEN });

// The client retries a failed request, because creating the same plant again changes nothing.
const created = await client.createPlant({ id: 9007199254740995n, name: 'Monstera' });
console.log(created.isOk() ? `created ${created.value.name}` : created.error.message);
