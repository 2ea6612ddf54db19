// Every way to make the call, with what each makes once.
import type * as client from '../../packages/client/src/index.ts';

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Creates a plant, and gives the name that was answered. */
export type Call = (plant: { readonly id: number; readonly name: string }) => Promise<string>;

const built = async <T>(file: string): Promise<T> =>
  (await import(new URL(file, import.meta.url).href)) as T;

type OtherClients = {
  readonly otherClients: (
    baseUrl: string,
    token: string,
    fetch: Fetch | undefined,
  ) => Readonly<Record<string, Call>>;
};

/** All contenders by name, on the global fetch or an injected one. */
export const makeContenders = async (
  baseUrl: string,
  token: string,
  injected: Fetch | undefined,
): Promise<Readonly<Record<string, Call>>> => {
  const { createClient } = await built<typeof client>('../../packages/client/dist/index.js');
  const { otherClients } = await built<OtherClients>('../compare/clients.mjs');
  const own = createClient({ baseUrl, token, ...(injected && { fetch: injected }) });
  const fetch: Fetch = injected ?? (async (url, init) => globalThis.fetch(url, init));
  const post = async (plant: object, more: RequestInit): Promise<{ name: string }> => {
    const response = await fetch(`${baseUrl}/plants`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(plant),
      ...more,
    });
    if (!response.ok) throw new Error(`refused with ${response.status}`);
    return (await response.json()) as { name: string };
  };
  return {
    'bare fetch': async (plant) => (await post(plant, {})).name,
    'fetch with a timeout and a check': async (plant) => {
      const { name } = await post(plant, { signal: AbortSignal.timeout(10_000) });
      if (typeof name !== 'string') throw new Error('no plant');
      return name;
    },
    ours: async (plant) => {
      const created = await own.createPlant(plant);
      if (created.isErr()) throw new Error(created.error.message);
      return created.value.name;
    },
    ...otherClients(baseUrl, token, injected),
  };
};
