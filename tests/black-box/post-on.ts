import { type Agent, request } from 'node:http';
import { token } from './program.ts';

/** The connection of a failed request: `idle` if it may have been so for longer than a stop waits for its next request. */
type FailedConnection = 'new' | 'idle' | 'active';

/** The result of a request. */
export type PostResult =
  { readonly status: number } | { readonly failed: string; readonly connection: FailedConnection };

/** Time for which a server that stops waits for the next request of an idle connection, in milliseconds. */
const idleGraceMs = 250;

/** When the latest request of each agent began. */
const began = new WeakMap<Agent, number>();

/** Posts a plant through an agent of one connection. */
export const postOn = async (agent: Agent, url: string, id: number): Promise<PostResult> =>
  new Promise((resolve) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const before = began.get(agent) ?? 0;
    began.set(agent, performance.now());
    const sent = request(url, { agent, method: 'POST', headers });
    sent.on('error', ({ code }: NodeJS.ErrnoException) => {
      const old = performance.now() - before > idleGraceMs ? 'idle' : 'active';
      resolve({ failed: String(code), connection: sent.reusedSocket ? old : 'new' });
    });
    sent.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve({ status: response.statusCode ?? 0 }));
    });
    sent.end(`{"id":${id},"name":"x"}`);
  });
