import { createClient } from '@plantstore/client';

/** Also sends cookies to the other origin, whose CORS policy must allow credentials. */
export const client = createClient({
  baseUrl: 'https://plants.example',
  token: 'mF_9.B5f-4.1JqM',
  fetch: async (url, init) => fetch(url, { ...init, credentials: 'include' }),
});
