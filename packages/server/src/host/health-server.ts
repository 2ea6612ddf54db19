import { once } from 'node:events';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import { createServer } from '../node/builtin-http.ts';
import { listenOn } from '../node/listen-on.ts';

/** Answers the probes of an orchestrator; or `message` says why it cannot. */
export type StartedHealth =
  | { readonly kind: 'running'; readonly url: string; readonly close: () => Promise<void> }
  | { readonly kind: 'cannot-listen'; readonly message: string };

/** A probe has no body and few headers; in bytes. */
const maxHeaderBytes = 8_192;
/** For a probe to arrive and to be answered, in milliseconds. */
const probeTimeoutMs = 5_000;
const maxConnections = 100;

const answer = (
  response: ServerResponse,
  status: number,
  told: string,
  headers: Readonly<Record<string, string>> = {},
): void => {
  const body = `${JSON.stringify({ status: told })}\n`;
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    // Probes come seconds apart, and a stop need not wait for any.
    Connection: 'close',
    ...headers,
  });
  response.end(body);
};

const listenerFor =
  (isReady: () => Promise<boolean>): RequestListener =>
  (request, response) => {
    const path = request.url?.split('?', 1)[0];
    response.on('error', () => {});
    if (path !== '/livez' && path !== '/readyz') answer(response, 404, 'not found');
    else if (request.method !== 'GET' && request.method !== 'HEAD') {
      answer(response, 405, 'method not allowed', { Allow: 'GET, HEAD' });
    } else if (path === '/livez') answer(response, 200, 'alive');
    else {
      void isReady().then((ready) =>
        answer(response, ready ? 200 : 503, ready ? 'ready' : 'not ready'),
      );
    }
  };

const createHealthServer = (isReady: () => Promise<boolean>): Server => {
  const server = createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: probeTimeoutMs,
      requestTimeout: probeTimeoutMs,
      connectionsCheckingInterval: 1_000,
    },
    listenerFor(isReady),
  );
  server.timeout = probeTimeoutMs;
  server.maxConnections = maxConnections;
  return server;
};

/** Serves `GET /livez` and `GET /readyz`, plain HTTP, on a port of their own. */
export const startHealth = async (
  isReady: () => Promise<boolean>,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<StartedHealth> => {
  const server = createHealthServer(isReady);
  const listening = await listenOn(server, { host, port, reusePort: false });
  if (listening.kind === 'cannot-listen') return listening;
  return {
    kind: 'running',
    url: `http://${listening.authority}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};
