import { createClient } from '@plantstore/client';

const { PLANTSTORE_URL = 'http://127.0.0.1:3000', PLANTSTORE_TOKEN = '' } = process.env;

const client = createClient({
  baseUrl: PLANTSTORE_URL,
  token: PLANTSTORE_TOKEN,
  attemptTimeoutMs: 2_000,
  timeoutMs: 5_000,
  onRetry: ({ attempts, waitMs, error }) =>
    console.warn(`attempt ${attempts}: ${error.message}; retry in ${Math.round(waitMs)} ms`),
});

const created = await client.createPlant(
  { id: 12n, name: 'Monstera' },
  { onSettled: ({ attempts }) => console.log(`settled after ${attempts} attempt(s)`) },
);
console.log(created.isOk() ? 'created' : created.error.message);
