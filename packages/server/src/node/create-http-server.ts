import { AsyncResource } from 'node:async_hooks';
import type { Server, ServerOptions } from 'node:http';
import type { Logger } from '../http/logger.ts';
import { type Limits, optionRules, type OptionsOf, readOptions } from '../http/options.ts';
import { createRequestHandler, type RequestListenerOptions } from './create-request-listener.ts';
import { loadHttp, loadHttps } from './builtin-http.ts';
import { shareLostMessages } from './connection/lost-messages.ts';
import { OpenConnections } from './connection/open-connections.ts';
import type { SharedState } from './exchange.ts';
import { respondToClientError, respondToConnect } from './raw-responses.ts';
import { secureOptionsOf, tlsFaultOf, type TlsOptions } from './tls-options.ts';

/**
 * Creates a `node:http` server, or a `node:https` server if there is `tls`. It does not listen yet.
 * Every error has a response from the error table, including those that Node responds to by
 * default: parse errors, timeouts, `Expect` and `CONNECT`. After `close()`, every response has
 * `Connection: close`.
 *
 * @throws TypeError for a wrong option
 * @example
 * ```ts
 * import { createMemoryRepository } from '@plantstore/core';
 * import { createHttpServer } from '@plantstore/server';
 *
 * const server = createHttpServer({
 *   repository: createMemoryRepository(),
 *   authenticate: (token) => token === process.env['PLANT_TOKEN'],
 * });
 * server.listen(3000, '127.0.0.1');
 * ```
 */
export function createHttpServer(options: HttpServerOptions): Server {
  return createServerParts(options).server;
}

/**
 * The options of an HTTP server for plants.
 *
 * @interface
 */
export type HttpServerOptions = RequestListenerOptions &
  OptionsOf<'maxConnections' | 'headersTimeoutMs' | 'requestTimeoutMs' | 'keepAliveTimeoutMs'> & {
    /** Serves HTTPS, with TLS 1.2 or newer. Default: HTTP. */
    readonly tls?: TlsOptions;
  };

/** Creates a server with the timeouts, limits and listeners of the plant store. */
export function createServerParts(options: HttpServerOptions): ServerParts {
  const settings = readOptions(optionRules, options);
  const handler = createRequestHandler(settings, () => !server.listening);
  const { shared } = handler;
  const server = createNodeServer(options.tls, settings);
  // Ends connections whose clients do not read. authenticate and the repository together take less
  // time.
  server.timeout = settings.requestTimeoutMs + 2 * settings.handlerTimeoutMs;
  server.maxConnections = settings.maxConnections;
  server.on('drop', warnOfDrops(settings.maxConnections, shared.logger));
  const connections = new OpenConnections(server, shared);
  server.on('request', (request, response) => handler.serve(request, response, false));
  server.on('checkContinue', (request, response) => handler.serve(request, response, true));
  server.on('checkExpectation', (request, response) => handler.serve(request, response, true));
  // Node may read what cannot be parsed in the context of an earlier request.
  const onClientError = AsyncResource.bind(respondToClientError.bind(undefined, handler));
  server.on('clientError', onClientError);
  server.on('connect', (request, socket) => respondToConnect(handler, request, socket));
  return { server, shared, connections };
}

/** A server with its state. */
export type ServerParts = {
  readonly server: Server;
  readonly shared: SharedState;
  readonly connections: OpenConnections;
};

function createNodeServer(tls: TlsOptions | undefined, limits: Limits): Server {
  const headersTimeout = Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs);
  const options: ServerOptions = {
    ...shareLostMessages(),
    headersTimeout,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: maxHeaderBytes,
    highWaterMark: maxBufferedBytes,
    insecureHTTPParser: false,
    // Node would respond to a missing Host without a body.
    requireHostHeader: false,
  };
  if (tls === undefined) return loadHttp().createServer(options);
  const fault = tlsFaultOf(tls);
  if (fault !== undefined) throw new TypeError(`tls.${fault.part} ${fault.why}`);
  const handshakeTimeout = headersTimeout;
  return loadHttps().createServer({ ...options, ...secureOptionsOf(tls), handshakeTimeout });
}

/** Maximum size of the request line and header fields together, in bytes. */
const maxHeaderBytes = 16_384;

/**
 * Maximum size that Node buffers of a body and of pending responses before it stops reading, in
 * bytes.
 */
const maxBufferedBytes = 16_384;

/** Logs, at most once a second, how many connections were closed because of `maxConnections`. */
function warnOfDrops(maxConnections: number, logger: Logger): () => void {
  let dropped = 0;
  return () => {
    dropped += 1;
    if (dropped > 1) return;
    setTimeout(() => {
      logger.warn({ dropped, maxConnections }, 'connections closed: too many are open');
      dropped = 0;
    }, 1_000).unref();
  };
}
