import { createClient, type TokenRequest } from '@plantstore/client';

const { PLANTSTORE_URL = 'http://127.0.0.1:3000', PLANTSTORE_TOKEN = '' } = process.env;

/** Placeholder for a request to an authorization server. */
const fetchToken = async (): Promise<string> => PLANTSTORE_TOKEN;

let cached: string | undefined;

const client = createClient({
  baseUrl: PLANTSTORE_URL,
  // Returns the cached token, or a new one after the plant store has responded with 401.
  async token({ refresh }: TokenRequest) {
    if (refresh || cached === undefined) cached = await fetchToken();
    return cached;
  },
  // Called once for each call. Use an object for headers that never change.
  headers: () => ({ 'X-Trace-Id': crypto.randomUUID() }),
  attemptTimeoutMs: 2_000,
  timeoutMs: 5_000,
  onRetry: ({ attempts, waitMs, error }) =>
    console.warn(`attempt ${attempts}: ${error.message}; retry in ${Math.round(waitMs)} ms`),
});

const created = await client.createPlant(
  { id: 11n, name: 'Monstera' },
  {
    headers: { 'X-Gateway-Key': 'a key for this call' },
    onSettled: ({ attempts }) => console.log(`settled after ${attempts} attempt(s)`),
  },
);
console.log(created.isOk() ? 'created' : created.error.message);
