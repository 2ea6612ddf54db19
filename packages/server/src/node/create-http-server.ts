import type { Server, ServerOptions } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { type Limits, limitsOf } from '../http/limits.ts';
import type { Logger } from '../http/logger.ts';
import { secureOptionsOf, tlsFaultOf, type TlsOptions } from './tls-options.ts';
import { loadHttp, loadHttps } from './builtin-http.ts';
import { messageOptions } from './message-options.ts';
import { createClientErrorListener, createConnectListener } from './refused-connection.ts';
import { createRequestHandler, type RequestListenerOptions } from './request-handler.ts';
import type { ServerContext } from './server-context.ts';
import { trackConnections, type TrackedConnections } from './track-connections.ts';

/**
 * The options of an HTTP server for plants.
 *
 * @interface
 */
export type HttpServerOptions = RequestListenerOptions &
  Partial<
    Pick<Limits, 'maxConnections' | 'headersTimeoutMs' | 'requestTimeoutMs' | 'keepAliveTimeoutMs'>
  > & {
    /** Serves HTTPS, with TLS 1.2 or newer. Default: HTTP. */
    readonly tls?: TlsOptions;
  };

/** Maximum size of the request line and header fields together, in bytes. */
const maxHeaderBytes = 16_384;

/** Maximum size that Node buffers of a body and of pending responses before it stops reading, in bytes. */
const maxBufferedBytes = 16_384;

/** Interval at which timeouts are checked, in milliseconds. */
const checkIntervalMs = 1_000;

/** Logs, at most once a second, how many connections were closed because of `maxConnections`. */
const warnOfDrops = (maxConnections: number, logger: Logger) => {
  let dropped = 0;
  return () => {
    dropped += 1;
    if (dropped > 1) return;
    setTimeout(() => {
      logger.warn({ dropped, maxConnections }, 'connections closed: too many are open');
      dropped = 0;
    }, 1_000).unref();
  };
};

const createPlainServer = (
  options: ServerOptions,
  tls: TlsOptions | undefined,
  handshakeTimeout: number,
): Server => {
  if (tls === undefined) return loadHttp().createServer(options);
  const fault = tlsFaultOf(tls);
  if (fault !== undefined) throw new TypeError(`tls.${fault.part} ${fault.why}`);
  return loadHttps().createServer({ ...options, ...secureOptionsOf(tls), handshakeTimeout });
};

/** Logs failed TLS handshakes at `info`, and closes their connections without an HTTP response. */
const logHandshakes = (server: Server, logger: Logger): void => {
  // Before Node's own listener, which would emit 'clientError'.
  server.prependListener('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    socket.destroy();
    logger.info({ code: error.code }, 'no TLS handshake');
  });
};

export type AssembledServer = {
  readonly server: Server;
  readonly context: ServerContext;
  readonly connections: TrackedConnections;
};

/** Creates a server with the timeouts, limits and listeners of the plant store. */
export const assembleServer = (options: HttpServerOptions): AssembledServer => {
  const limits = limitsOf(options);
  const handler = createRequestHandler(options, limits, () => !server.listening);
  const { context } = handler;
  const { logger } = context;
  const { headersTimeoutMs, requestTimeoutMs } = limits;
  const headersTimeout = Math.min(headersTimeoutMs, requestTimeoutMs);
  const nodeOptions = {
    ...messageOptions(),
    headersTimeout,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: checkIntervalMs,
    maxHeaderSize: maxHeaderBytes,
    highWaterMark: maxBufferedBytes,
    // Node would respond to a missing Host without a body.
    requireHostHeader: false,
  };
  const server = createPlainServer(nodeOptions, options.tls, headersTimeout);
  // Without it, a client that half-closes its connection would get no response. The property is
  // undocumented; Node keeps it for compatibility (nodejs/node#36819).
  Object.assign(server, { httpAllowHalfOpen: true });
  // Not an option of the server, which would keep connections that are closed in their handshake.
  server.on('secureConnection', (socket: TLSSocket) =>
    Object.assign(socket, { allowHalfOpen: true }),
  );
  // Ends connections whose clients do not read. authenticate and the repository together take less time.
  server.timeout = requestTimeoutMs + 2 * limits.handlerTimeoutMs;
  server.maxConnections = limits.maxConnections;
  logHandshakes(server, logger);
  server.on('drop', warnOfDrops(limits.maxConnections, logger));
  const connections = trackConnections(server);
  server.on('request', (request, response) => handler.serve(request, response, false));
  server.on('checkContinue', (request, response) => handler.serve(request, response, true));
  server.on('checkExpectation', (request, response) => handler.serve(request, response, true));
  server.on('clientError', createClientErrorListener(handler));
  server.on('connect', createConnectListener(handler));
  return { server, context, connections };
};

/**
 * Creates a `node:http` server, or a `node:https` server if there is `tls`. It does not listen yet. Every
 * error has a response from the error table, including those that Node responds to by default: parse errors,
 * timeouts, `Expect` and `CONNECT`. After `close()`, every response has `Connection: close`.
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
export const createHttpServer = (options: HttpServerOptions): Server =>
  assembleServer(options).server;
