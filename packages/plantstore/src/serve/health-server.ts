import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { err, ok, type Result } from 'neverthrow';
import { describeCause, type Logger } from '@plantstore/server';
import { createServer } from '../../../server/src/node/builtin-http.ts';
import {
  type ListenAddress,
  listenOn,
  type ListenSocket,
} from '../../../server/src/node/listen-on.ts';

/** A running health server. */
export type HealthServer = { readonly url: string; readonly close: () => void };

/** Maximum size of the headers of a probe, in bytes. */
const maxHeaderBytes = 8_192;
/** Timeout of a probe and its response, in milliseconds. */
const probeTimeoutMs = 5_000;
const maxConnections = 100;

/** The response body of `/metrics`, in Prometheus' text format, and its content type. */
export type MetricsPage = {
  readonly read: () => Promise<string>;
  readonly contentType: string;
};

const send = (
  response: ServerResponse,
  status: number,
  contentType: string,
  body: string,
): void => {
  response.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    // Probes come seconds apart, and a shutdown does not wait for idle connections.
    Connection: 'close',
  });
  response.end(body);
};

const sendStatus = (response: ServerResponse, statusCode: number, status: string): void => {
  send(response, statusCode, 'application/json', `${JSON.stringify({ status })}\n`);
};

/** The options of the health server. */
export type HealthOptions = {
  readonly isReady: () => Promise<boolean>;
  readonly metrics: MetricsPage | undefined;
  /** Receives the causes of responses with 500. */
  readonly log: Logger;
};

const respond = async (
  { isReady, metrics }: HealthOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const path = request.url?.split('?', 1)[0];
  const page = path === '/metrics' ? metrics : undefined;
  if (path !== '/livez' && path !== '/readyz' && page === undefined) {
    sendStatus(response, 404, 'not found');
  } else if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    sendStatus(response, 405, 'method not allowed');
  } else if (page !== undefined) {
    send(response, 200, page.contentType, await page.read());
  } else if (path === '/livez') {
    sendStatus(response, 200, 'alive');
  } else {
    const ready = await isReady();
    sendStatus(response, ready ? 200 : 503, ready ? 'ready' : 'not ready');
  }
};

const createHealthServer = (options: HealthOptions): Server => {
  const server = createServer(
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
};

/** Serves `GET /livez`, `GET /readyz` and, with metrics, `GET /metrics` over plain HTTP on a separate port. */
export const startHealth = async (
  options: HealthOptions,
  target: ListenAddress | ListenSocket,
): Promise<Result<HealthServer, string>> => {
  const server = createHealthServer(options);
  const listening = await listenOn(server, target);
  if (listening.kind === 'cannot-listen') return err(listening.message);
  return ok({
    url: `http://${listening.authority}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  });
};
