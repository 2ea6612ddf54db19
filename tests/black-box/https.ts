import * as http from 'node:http';
import * as https from 'node:https';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { token } from './program.ts';

/** Posts a body as JSON over TLS to a server whose certificate is signed by `ca`. */
export const postSecurely = async (url: string, body: string, ca: string): Promise<number> => {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const { status } = await send(url, { ca, method: 'POST', headers, agent: false }, body);
  return status;
};

/** Sends a request over HTTP or TLS. Resolves with the response and the certificate of the server. */
export const send = async (url: string, options: https.RequestOptions, body = '') => {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const { request } = url.startsWith('https:') ? https : http;
  request(url, options, resolve).on('error', reject).end(body);
  const response = await promise;
  const certificate = (response.socket as Partial<TLSSocket>).getPeerCertificate?.().raw;
  return { status: response.statusCode ?? 0, body: await text(response), certificate };
};
