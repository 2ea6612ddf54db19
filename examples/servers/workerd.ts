import { createFetchHandler, type FetchHandler } from '@plantstore/server/fetch';
import { createDurableRepository } from './workerd-repository.ts';

/** Digests are compared, because the time that it takes says nothing about the token. */
const digestOf = async (token: string): Promise<string> => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token));
  return String(new Uint8Array(digest));
};

type Env = { readonly GARDEN: DurableObjectNamespace; readonly PLANT_TOKEN: string };

/** Holds the plants. Its responses wait until what it wrote is durable. */
export class Garden {
  readonly fetch: FetchHandler;

  constructor({ storage }: DurableObjectState, { PLANT_TOKEN }: Env) {
    this.fetch = createFetchHandler({
      repository: createDurableRepository(storage.sql),
      authenticate: async (token) => (await digestOf(token)) === (await digestOf(PLANT_TOKEN)),
    });
  }
}

export default {
  fetch: async (request: Request, { GARDEN }: Env) =>
    GARDEN.get(GARDEN.idFromName('garden')).fetch(request),
};
