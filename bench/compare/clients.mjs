// The same call by other clients, with their defaults. Not compiled: they are installed on demand.
import ky from 'ky';
import { createFetch } from 'ofetch';
import createOpenApiClient from 'openapi-fetch';

/** Makes each client once; its call gives the plant's name, or throws. */
export const otherClients = (baseUrl, token, fetch) => {
  const headers = { Authorization: `Bearer ${token}` };
  const withKy = ky.create({ headers, ...(fetch && { fetch }) });
  const withOfetch = createFetch({ ...(fetch && { fetch }), defaults: { headers } });
  const withOpenApi = createOpenApiClient({ baseUrl, headers, ...(fetch && { fetch }) });
  return {
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
