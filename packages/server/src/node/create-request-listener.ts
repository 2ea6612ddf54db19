import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';
import { createClientAddressOf } from '../http/client-address.ts';
import { loggerOf } from '../http/logger.ts';
import {
  optionRules,
  type OptionsOf,
  readOptions,
  type ServiceOptions,
  type SettingsOf,
} from '../http/options.ts';
import { createService } from '../http/service.ts';
import { Connection } from './connection/connection.ts';
import type { ConnectionRules } from './connection/turn.ts';
import { Exchange, type SharedState } from './exchange.ts';

/**
 * Creates the plant store as a `'request'` listener for any `node:http` or `node:https` server.
 * Node responds to some requests without calling the listener, such as parse errors and `Expect`. A
 * server of `createHttpServer` responds to those from the error table, too.
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
export function createRequestListener(options: RequestListenerOptions): RequestListener {
  const { serve } = createRequestHandler(readOptions(optionRules, options), () => false);
  return (request, response) => serve(request, response, false);
}

/**
 * The options of a request listener.
 *
 * @interface
 */
export type RequestListenerOptions = ServiceOptions & OptionsOf<'trustedProxies'>;

/** The handler of all requests of a server. */
export type RequestHandler = {
  readonly shared: SharedState;
  /** Serves one request. `awaitsContinue` is true if the client waits for a `100 Continue`. */
  readonly serve: (
    request: IncomingMessage,
    response: ServerResponse,
    awaitsContinue: boolean,
  ) => void;
  /** Returns the connection of a socket, from its first request or error on. */
  readonly connectionOf: (socket: Duplex) => Connection;
};

/** Creates the handler of a server. `isClosing` returns whether the server closes. */
export function createRequestHandler(
  settings: SettingsOf<typeof optionRules>,
  isClosing: () => boolean,
): RequestHandler {
  const shared: SharedState = {
    service: createService(settings),
    logger: loggerOf(settings.logger),
    clientAddressOf: createClientAddressOf(settings.trustedProxies),
    maxInFlight: settings.maxInFlight,
    inFlight: 0,
  };
  const rules: ConnectionRules = {
    maxBodyBytes: settings.maxBodyBytes,
    isClosing,
    createExchange: (turn) => new Exchange(turn, shared),
  };
  const connections = new WeakMap<Duplex, Connection>();
  return { shared, serve, connectionOf };

  function serve(request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean) {
    // Node detaches the socket of a request that another listener stops reading.
    const connection = connectionOf(request.socket ?? response.socket);
    connection.serve({ request, response, awaitsContinue });
    // Node destroys the connection of an incomplete PRI request together with pending responses.
    if (request.method === 'PRI') request.method = undefined;
  }

  function connectionOf(socket: MaybeSocket): Connection {
    // A simulated one is new for each request.
    if (!(socket instanceof Duplex)) return new Connection(rules, undefined, socket?.remoteAddress);
    const known = connections.get(socket);
    if (known !== undefined) return known;
    const connection = new Connection(rules, socket, socket.remoteAddress);
    connections.set(socket, connection);
    return connection;
  }
}

/** Tests and serverless adapters simulate sockets, or have none. */
type MaybeSocket = (Duplex & Addressed) | Addressed | null | undefined;
type Addressed = { readonly remoteAddress?: string | undefined };
