import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { describeCause, listenOn, type Logger, pathOf } from '@plantstore/server';
import type { Result } from 'neverthrow';

/** Serves `GET /livez`, `/readyz` and, with metrics, `/metrics` over HTTP on a separate port. */
export async function startHealth(
  options: HealthOptions,
  target: Parameters<typeof listenOn>[1],
): Promise<Result<HealthServer, string>> {
  const server = createHealthServer(options);
  const listening = await listenOn(server, target);
  return listening
    .mapErr(({ message }) => message)
    .map(({ authority }) => ({
      url: `http://${authority}`,
      close() {
        server.close();
        server.closeAllConnections();
      },
    }));
}

export type HealthServer = { readonly url: string; readonly close: () => void };

export type HealthOptions = {
  readonly isReady: () => Promise<boolean>;
  readonly metrics: MetricsPage | undefined;
  /** Receives the causes of responses with 500. */
  readonly log: Logger;
};

/** The response body of `/metrics`, in Prometheus' text format, and its content type. */
export type MetricsPage = {
  readonly read: () => Promise<string>;
  readonly contentType: string;
};

/** Maximum size of the headers of a probe, in bytes. */
const maxHeaderBytes = 8_192;
/** Timeout of a probe and its response, in milliseconds. */
const probeTimeoutMs = 5_000;
const maxConnections = 100;

function createHealthServer(options: HealthOptions): Server {
  // An import would also evaluate Node's WebSocket client, which takes 3 MB and 15 ms.
  const server = process.getBuiltinModule('node:http').createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: probeTimeoutMs,
      connectionsCheckingInterval: 1_000,
    },
    (request, response) => {
      respond(options, request, response).catch((thrown: unknown) => {
        options.log.error({ cause: describeCause(thrown) }, 'a health check failed');
        sendStatus(response, 500, 'internal error');
      });
    },
  );
  server.timeout = probeTimeoutMs;
  server.maxConnections = maxConnections;
  return server;
}

async function respond(
  { isReady, metrics }: HealthOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = pathOf(request.url ?? '');
  const page = path === '/metrics' ? metrics : undefined;
  if (path !== '/livez' && path !== '/readyz' && page === undefined) {
    sendStatus(response, 404, 'not found');
  } else if (page !== undefined) {
    send(response, 200, page.contentType, await page.read());
  } else if (path === '/livez') {
    sendStatus(response, 200, 'alive');
  } else {
    const ready = await isReady();
    sendStatus(response, ready ? 200 : 503, ready ? 'ready' : 'not ready');
  }
}

function sendStatus(response: ServerResponse, statusCode: number, status: string): void {
  send(response, statusCode, 'application/json', `${JSON.stringify({ status })}\n`);
}

function send(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    // Probes come seconds apart, and a shutdown does not wait for idle connections.
    Connection: 'close',
  });
  response.end(body);
}
