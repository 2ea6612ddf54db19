import { createClient } from '@plantstore/client';

/** Also sends the cookies of a gateway on another origin, which must allow that. */
export const client = createClient({
  baseUrl: 'https://plants.example',
  token: 'mF_9.B5f-4.1JqM',
  fetch: async (url, init) => fetch(url, { ...init, credentials: 'include' }),
});
