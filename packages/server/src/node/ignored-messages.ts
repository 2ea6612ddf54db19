import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { IncomingMessage as Incoming, ServerResponse as Outgoing } from './builtin-http.ts';
import type { Connection } from './connection.ts';

/** A request that drops its body. */
class IgnoredRequest extends Incoming {
  override push(): boolean {
    return true;
  }
}

/** A response that keeps no listeners, because Node adds some for each request. */
class IgnoredResponse extends Outgoing {
  override on(): this {
    return this;
  }
}

/**
 * Returns options of an HTTP server with which all ignored requests of a connection share two objects.
 * A packet can have thousands of requests, and Node creates and keeps a pair of objects for each.
 */
export const ignoredMessageOptions = (
  connectionOf: (socket: Duplex) => Connection | undefined,
): ServerOptions => {
  const ignored = new WeakMap<Connection, { request: IncomingMessage; response: ServerResponse }>();

  const ignoredOf = (socket: IncomingMessage['socket']) => {
    const connection = connectionOf(socket);
    if (connection?.refusesMore !== true) return undefined;
    const existing = ignored.get(connection);
    if (existing !== undefined) return existing;
    const request = new IgnoredRequest(socket);
    const created = { request, response: new IgnoredResponse(request) };
    ignored.set(connection, created);
    return created;
  };

  // Functions, because the constructor of a derived class would always create an object of its own.
  function RequestOrIgnored(socket: IncomingMessage['socket']) {
    return ignoredOf(socket)?.request ?? new Incoming(socket);
  }
  function ResponseOrIgnored(request: IncomingMessage, options: object) {
    const Response = Outgoing as new (request: IncomingMessage, options: object) => ServerResponse;
    return ignoredOf(request.socket)?.response ?? new Response(request, options);
  }
  return {
    IncomingMessage: RequestOrIgnored as unknown as typeof IncomingMessage,
    ServerResponse: ResponseOrIgnored as unknown as typeof ServerResponse,
  };
};
