import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { createClientAddressOf } from '../http/client-address.ts';
import { createService } from '../http/service.ts';
import type { Limits } from '../http/limits.ts';
import { type Logger, loggerOf } from '../http/logger.ts';
import { assertOptions } from '../http/option-rules.ts';
import type { ServiceOptions } from '../http/service-options.ts';
import { Connection } from './connection.ts';
import { Exchange } from './exchange.ts';
import { optionRules } from './option-rules.ts';
import type { ServerContext } from './server-context.ts';

/**
 * The options of a request listener.
 *
 * @interface
 */
export type RequestListenerOptions = ServiceOptions &
  Partial<Pick<Limits, 'maxInFlight'>> & {
    /** Logs each request in one line. Default: no log. */
    readonly logger?: Logger;
    /**
     * Addresses of proxies, and ranges of them in CIDR notation (`10.0.0.0/8`). If a connection comes from one, the log and
     * the events have the client's address from `X-Forwarded-For`. Default: none, so that they have the connection's.
     */
    readonly trustedProxies?: readonly string[];
  };

/** The handler of all requests of a server. */
export type RequestHandler = {
  readonly context: ServerContext;
  /** Serves one request. `awaitsContinue` is true if the client waits for a `100 Continue`. */
  readonly serve: (
    request: IncomingMessage,
    response: ServerResponse,
    awaitsContinue: boolean,
  ) => void;
  /** Returns the connection of a socket; `undefined` if it has sent no request. */
  readonly connectionOf: (socket: Duplex) => Connection | undefined;
};

/** Creates the handler of a server. `isClosing` returns whether the server closes. */
export const createRequestHandler = (
  options: RequestListenerOptions,
  limits: Limits,
  isClosing: () => boolean,
): RequestHandler => {
  const { trustedProxies = [] } = options;
  assertOptions(optionRules, options);
  const context: ServerContext = {
    service: createService(options, limits),
    logger: loggerOf(options.logger),
    clientAddressOf: createClientAddressOf(trustedProxies),
    maxInFlight: limits.maxInFlight,
    inFlight: 0,
    isClosing,
  };
  const connections = new WeakMap<Duplex, Connection>();

  const connect = (socket: Socket | null): Connection => {
    // Tests of an app may simulate one.
    const real = socket instanceof Duplex ? socket : undefined;
    const connection = new Connection(context, real, socket?.remoteAddress);
    if (real !== undefined) connections.set(real, connection);
    return connection;
  };

  return {
    context,
    serve(request, response, awaitsContinue) {
      // Node detaches the socket of a request that another listener stops reading.
      const socket = (request.socket as Socket | null) ?? response.socket;
      const connection = (socket && connections.get(socket)) ?? connect(socket);
      if (connection.refusesMore) connection.refuse();
      else connection.add(new Exchange(connection, request, response, awaitsContinue));
      // Node destroys the connection of an incomplete PRI request together with pending responses.
      if (request.method === 'PRI') request.method = undefined;
    },
    connectionOf: (socket) => connections.get(socket),
  };
};
