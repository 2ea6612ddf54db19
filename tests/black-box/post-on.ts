import { type Agent, request } from 'node:http';
import { token } from './program.ts';

/** The result of a request; `isFirst` is whether it was the first on its connection. */
export type PostResult =
  { readonly status: number } | { readonly failed: string; readonly isFirst: boolean };

/** Posts a plant through an agent. */
export const postOn = async (agent: Agent, url: string, id: number): Promise<PostResult> =>
  new Promise((resolve) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const sent = request(url, { agent, method: 'POST', headers });
    sent.on('error', (error: NodeJS.ErrnoException) =>
      resolve({ failed: String(error.code), isFirst: !sent.reusedSocket }),
    );
    sent.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve({ status: response.statusCode ?? 0 }));
    });
    sent.end(`{"id":${id},"name":"x"}`);
  });
