// The same call with every client and its defaults. Not type-checked, because the peers are installed on demand.
import ky from 'ky';
import { createFetch } from 'ofetch';
import createOpenApiClient from 'openapi-fetch';
import { createClient } from '../../packages/client/dist/index.js';

/** Creates the clients. Each is a function that creates a plant, and returns its name in the response or throws. */
export const createClients = (baseUrl, token, fetch) => {
  const headers = { Authorization: `Bearer ${token}` };
  const post = async (plant, more) => {
    const response = await (fetch ?? globalThis.fetch)(`${baseUrl}/plants`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(plant),
      ...more,
    });
    if (!response.ok) throw new Error(`refused with ${response.status}`);
    return response.json();
  };
  const ours = createClient({ baseUrl, token, ...(fetch && { fetch }) });
  const withKy = ky.create({ headers, ...(fetch && { fetch }) });
  const withOfetch = createFetch({ ...(fetch && { fetch }), defaults: { headers } });
  const withOpenApi = createOpenApiClient({ baseUrl, headers, ...(fetch && { fetch }) });
  return {
    'bare fetch': async (plant) => (await post(plant)).name,
    'fetch with a timeout and a check': async (plant) => {
      const { name } = await post(plant, { signal: AbortSignal.timeout(10_000) });
      if (typeof name !== 'string') throw new Error('no plant');
      return name;
    },
    ours: async (plant) => {
      const created = await ours.createPlant(plant);
      if (created.isErr()) throw new Error(created.error.message);
      return created.value.name;
    },
    ky: async (plant) => (await withKy.post(`${baseUrl}/plants`, { json: plant }).json()).name,
    ofetch: async (plant) =>
      (await withOfetch(`${baseUrl}/plants`, { method: 'POST', body: plant })).name,
    'openapi-fetch': async (plant) => {
      const { data, error } = await withOpenApi.POST('/plants', { body: plant });
      if (error !== undefined) throw new Error('refused');
      return data.name;
    },
  };
};
