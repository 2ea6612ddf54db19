import { createClient } from '@plantstore/client';
import { fetch, ProxyAgent } from 'undici';

const { PLANTSTORE_URL = 'https://plants.example', PLANTSTORE_TOKEN = '' } = process.env;
const dispatcher = new ProxyAgent('http://proxy.example:3128');

/** Sends every request through the proxy; for mutual TLS, use an undici `Agent` with `connect`. */
export const client = createClient({
  baseUrl: PLANTSTORE_URL,
  token: PLANTSTORE_TOKEN,
  fetch: async (url, init) => fetch(url, { ...init, dispatcher }),
});
