import { createClient, type TokenRequest } from '@plantstore/client';

/** Placeholder for a request to an authorization server. */
const fetchToken = async (): Promise<string> => process.env['PLANTSTORE_TOKEN'] ?? '';

let cached: string | undefined;

/** Returns the cached token, or a new one after the plant store has responded with 401. */
const token = async ({ refresh }: TokenRequest): Promise<string> => {
  if (refresh || cached === undefined) cached = await fetchToken();
  return cached;
};

const { PLANTSTORE_URL = 'http://127.0.0.1:3000' } = process.env;
const client = createClient({ baseUrl: PLANTSTORE_URL, token });
const created = await client.createPlant({ id: 11n, name: 'Monstera' });
console.log(created.isOk() ? 'created' : created.error.message);
