import { createMemoryRepository } from '@plantstore/core';
import { createFetchHandler, type FetchHandler } from '@plantstore/server/fetch';
import { createDurableRepository } from './workerd-repository.ts';

/** Returns a digest to compare, because the time to compare digests does not depend on the token. */
const digestOf = async (token: string): Promise<string> => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token));
  return String(new Uint8Array(digest));
};

type Env = { readonly GARDEN: DurableObjectNamespace; readonly PLANT_TOKEN: string };

/** A Durable Object that stores the plants. Its responses are sent after its writes are durable. */
export class Garden {
  readonly fetch: FetchHandler;

  constructor({ storage }: DurableObjectState, { PLANT_TOKEN }: Env) {
    this.fetch = createFetchHandler({
      repository: createDurableRepository(storage.sql),
      authenticate: async (token) => (await digestOf(token)) === (await digestOf(PLANT_TOKEN)),
    });
  }
}

/** Responds to requests whose URL workerd cannot pass on, because their Host field is malformed. */
const refuse = createFetchHandler({
  repository: createMemoryRepository(),
  authenticate: () => false,
});

export default {
  fetch: async (request: Request, { GARDEN }: Env) =>
    URL.canParse(request.url)
      ? GARDEN.get(GARDEN.idFromName('garden')).fetch(request)
      : refuse(request),
};
