import { request } from 'node:https';
import { token } from './program.ts';

/** Posts a body as JSON over TLS to a server whose certificate is signed by `ca`. */
export const postSecurely = async (url: string, body: string, ca: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const sent = request(url, { ca, method: 'POST', headers, agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject);
    sent.end(body);
  });
