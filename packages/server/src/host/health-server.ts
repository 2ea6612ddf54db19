import { once } from 'node:events';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import { createServer } from '../node/builtin-http.ts';
import { listenOn } from '../node/listen-on.ts';

/** A running health server, or why it cannot listen. */
export type StartedHealth =
  | { readonly kind: 'running'; readonly url: string; readonly close: () => Promise<void> }
  | { readonly kind: 'cannot-listen'; readonly message: string };

/** Maximum size of the headers of a probe, in bytes. */
const maxHeaderBytes = 8_192;
/** Timeout of a probe and its response, in milliseconds. */
const probeTimeoutMs = 5_000;
const maxConnections = 100;

/** The response body of `/metrics` and its content type. */
export type MetricsPage = {
  readonly read: () => Promise<string>;
  readonly contentType: string;
};

const send = (
  response: ServerResponse,
  status: number,
  contentType: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void => {
  response.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    // Probes come seconds apart, and a shutdown does not wait for idle connections.
    Connection: 'close',
    ...headers,
  });
  response.end(body);
};

const sendStatus = (
  response: ServerResponse,
  statusCode: number,
  status: string,
  headers?: Readonly<Record<string, string>>,
): void => {
  send(response, statusCode, 'application/json', `${JSON.stringify({ status })}\n`, headers);
};

const sendMetrics = async (response: ServerResponse, metrics: MetricsPage): Promise<void> => {
  send(response, 200, metrics.contentType, await metrics.read());
};

const listenerFor =
  (isReady: () => Promise<boolean>, metrics: MetricsPage | undefined): RequestListener =>
  (request, response) => {
    const path = request.url?.split('?', 1)[0];
    response.on('error', () => {});
    const page = path === '/metrics' ? metrics : undefined;
    if (path !== '/livez' && path !== '/readyz' && page === undefined) {
      sendStatus(response, 404, 'not found');
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      sendStatus(response, 405, 'method not allowed', { Allow: 'GET, HEAD' });
    } else if (page !== undefined) void sendMetrics(response, page);
    else if (path === '/livez') sendStatus(response, 200, 'alive');
    else {
      void isReady().then((ready) =>
        sendStatus(response, ready ? 200 : 503, ready ? 'ready' : 'not ready'),
      );
    }
  };

const createHealthServer = (
  isReady: () => Promise<boolean>,
  metrics: MetricsPage | undefined,
): Server => {
  const server = createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: probeTimeoutMs,
      requestTimeout: probeTimeoutMs,
      connectionsCheckingInterval: 1_000,
    },
    listenerFor(isReady, metrics),
  );
  server.timeout = probeTimeoutMs;
  server.maxConnections = maxConnections;
  return server;
};

/** Serves `GET /livez`, `GET /readyz` and, with metrics, `GET /metrics` over plain HTTP on a separate port. */
export const startHealth = async (
  isReady: () => Promise<boolean>,
  { host, port }: { readonly host: string; readonly port: number },
  metrics?: MetricsPage,
): Promise<StartedHealth> => {
  const server = createHealthServer(isReady, metrics);
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
