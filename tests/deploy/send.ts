import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import { onTestFinished } from 'vitest';
import { token } from '../black-box/program.ts';
import type { Proxy } from './proxies.ts';

/** A response as it came through a proxy. */
export type Response = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/** A request to a proxy. */
export type Sent = {
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body: string | Buffer;
  /** Whether the body waits for `100 Continue`. */
  readonly isExpecting?: boolean;
};

/** Creates a function that sends requests to a proxy over TLS, with the token. */
export const senderTo = ({ port, ca }: Proxy): ((sent: Sent) => Promise<Response>) => {
  const agent = new Agent({ ca, keepAlive: true });
  onTestFinished(() => agent.destroy());
  return async ({ path = '/plants', headers = {}, body, isExpecting = false }) =>
    new Promise((resolve, reject) => {
      const options = {
        agent,
        host: '127.0.0.1',
        port,
        path,
        method: 'POST',
        headers: {
          Authorization: `Bearer ${token}`,
          'Content-Type': 'application/json',
          ...(isExpecting ? { Expect: '100-continue' } : {}),
          ...headers,
        },
      };
      const sent = request(options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('error', reject).on('end', () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
        });
      });
      sent.on('error', reject);
      if (isExpecting) sent.once('continue', () => sent.end(body)).flushHeaders();
      else sent.end(body);
    });
};
