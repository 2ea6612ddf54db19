// For workerd: requests that share a client, as at the top of a module. The first token that is slow never settles.
import { createClient, type PlantClient } from '@plantstore/client';

/** A request: `slow` is the kind of token that never settles, and `endsBy` what ends the wait for it. */
export type SharedCall = {
  readonly baseUrl: string;
  readonly token: string;
  readonly slow: 'token' | 'refresh';
  readonly endsBy?: 'timeout' | 'abort';
};

/** Time after which a call ends that waits for the slow token: on a busy machine, it begins to wait late. */
const waitMs = 2_000;

const clients = new Map<string, PlantClient>();

const createShared = ({ baseUrl, token, slow }: SharedCall): PlantClient => {
  let isSlow = true;
  return createClient({
    baseUrl,
    token: ({ refresh }) => {
      if (isSlow && refresh === (slow === 'refresh')) {
        isSlow = false;
        return new Promise<string>(() => {});
      }
      return slow === 'token' || refresh ? token : 'rejected';
    },
  });
};

// oxlint-disable-next-line import/no-default-export -- workerd requires it
export default {
  fetch: async (request: Request): Promise<Response> => {
    const call = (await request.json()) as SharedCall;
    const client = clients.get(request.url) ?? createShared(call);
    clients.set(request.url, client);
    const controller = new AbortController();
    if (call.endsBy === 'abort') setTimeout(() => controller.abort(), waitMs);
    const created = await client.createPlant(
      { id: 1n, name: 'Monstera' },
      { signal: controller.signal, timeoutMs: call.endsBy === 'timeout' ? waitMs : undefined },
    );
    return Response.json(created.isOk() ? 'created' : created.error.kind);
  },
};
