import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createService, type ServiceOptions } from '../http/service.ts';
import { type Limits, limitsOf } from '../limits.ts';
import { Connection } from './connection.ts';
import { Exchange } from './exchange.ts';
import { type Logger, loggerOf } from '../logger.ts';
import type { ServerContext } from './server-context.ts';

/**
 * What a request listener is made of.
 *
 * @interface
 */
export type RequestListenerOptions = ServiceOptions &
  Partial<Pick<Limits, 'maxInFlight'>> & {
    /** Where requests are logged, one line each. Default is nowhere. */
    readonly logger?: Logger;
  };

/** Serves the requests of a server. */
export type RequestHandler = {
  readonly context: ServerContext;
  /** Serves one request; `awaitsContinue` where the `100 Continue` is left to this handler. */
  readonly serve: (
    request: IncomingMessage,
    response: ServerResponse,
    awaitsContinue: boolean,
  ) => void;
  /** The connection of a socket, if it has sent a request. */
  readonly connectionOf: (socket: Duplex) => Connection | undefined;
  /** Ends the connections that have sent no request for so long, in milliseconds. */
  readonly endIdle: (maxIdleMs: number) => void;
};

/** Creates the handler of one server, which closes once `isClosing` returns true. */
export const createRequestHandler = (
  options: RequestListenerOptions,
  isClosing: () => boolean,
): RequestHandler => {
  const logger = loggerOf(options.logger);
  const service = createService(options);
  const { maxInFlight } = limitsOf(options);
  const context: ServerContext = { service, logger, maxInFlight, inFlight: 0, isClosing };
  const connections = new Map<Duplex, Connection>();

  const open = (socket: Socket): Connection => {
    const connection = new Connection(context, socket);
    // A listener in front of this one may take longer than its client waits.
    if (socket.destroyed) return connection;
    connections.set(socket, connection);
    socket.once('close', () => connections.delete(socket));
    return connection;
  };

  return {
    context,
    serve(request, response, awaitsContinue) {
      const { socket } = request;
      const connection = connections.get(socket) ?? open(socket);
      if (connection.refusesMore) connection.ignore();
      else {
        connection.add(new Exchange(connection, request, response, awaitsContinue));
      }
      // Node destroys the connection of an incomplete PRI request, and with it earlier responses.
      if (request.method === 'PRI') request.method = undefined;
    },
    connectionOf: (socket) => connections.get(socket),
    endIdle(maxIdleMs) {
      const since = performance.now() - maxIdleMs;
      for (const connection of connections.values()) connection.endIfIdle(since);
    },
  };
};

/**
 * The plant store as a listener for any `node:http` or `node:https` server. Node answers some
 * requests before a listener sees them (HTTP that it cannot parse, `Expect`); `createHttpServer`
 * is a server in which those have their row of the error table too.
 *
 * @throws TypeError for a wrong option
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createMemoryRepository } from '@plantstore/core';
 * import { createRequestListener } from '@plantstore/server';
 *
 * const listener = createRequestListener({
 *   repository: createMemoryRepository(),
 *   authenticate: (token) => token === process.env['PLANT_TOKEN'],
 * });
 * createServer(listener).listen(3000, '127.0.0.1');
 * ```
 */
export const createRequestListener = (options: RequestListenerOptions): RequestListener => {
  const { serve } = createRequestHandler(options, () => false);
  return (request, response) => serve(request, response, false);
};
