import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { RequestListenerOptions } from '../create-request-listener.ts';
import { createClientAddressOf, isAddressRange } from '../http/client-address.ts';
import { createService } from '../http/service.ts';
import type { Limits } from '../limits.ts';
import { loggerOf } from '../logger.ts';
import { Connection } from './connection.ts';
import { Exchange } from './exchange.ts';
import type { ServerContext } from './server-context.ts';

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
  limits: Limits,
  isClosing: () => boolean,
): RequestHandler => {
  const logger = loggerOf(options.logger);
  const service = createService(options, limits);
  const { maxInFlight } = limits;
  const { trustedProxies = [] } = options;
  if (!trustedProxies.every(isAddressRange)) {
    throw new TypeError('trustedProxies must be addresses, or ranges such as 10.0.0.0/8');
  }
  const clientAddressOf = createClientAddressOf(trustedProxies);
  const context: ServerContext = {
    service,
    logger,
    clientAddressOf,
    maxInFlight,
    inFlight: 0,
    isClosing,
  };
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
