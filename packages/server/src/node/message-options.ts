import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { IncomingMessage as Incoming, ServerResponse as Outgoing } from './builtin-http.ts';
import type { Connection } from './connection.ts';
import { DirectRequest } from './direct-request.ts';

/** A response that keeps no listeners, because Node adds some for each request. */
class IgnoredResponse extends Outgoing {
  override on(): this {
    return this;
  }
}

/** A request that drops its body. */
class IgnoredRequest extends Incoming {
  readonly response = new IgnoredResponse(this);

  override push(): boolean {
    return true;
  }
}

/**
 * Returns options of an HTTP server with which requests pass their bodies directly, and all ignored requests of a
 * connection share two objects. A packet can have thousands of requests, and Node creates and keeps a pair of objects
 * for each.
 */
export const messageOptions = (
  connectionOf: (socket: Duplex) => Connection | undefined,
): ServerOptions => {
  // Functions, because the constructor of a derived class would always create an object of its own.
  function RequestOrIgnored(socket: IncomingMessage['socket']) {
    const connection = connectionOf(socket);
    if (connection?.refusesMore !== true) return new DirectRequest(socket);
    connection.ignored ??= new IgnoredRequest(socket);
    return connection.ignored;
  }
  function ResponseOrIgnored(request: IncomingMessage, options: object) {
    const Response = Outgoing as new (request: IncomingMessage, options: object) => ServerResponse;
    return request instanceof IgnoredRequest ? request.response : new Response(request, options);
  }
  return {
    IncomingMessage: RequestOrIgnored as unknown as typeof IncomingMessage,
    ServerResponse: ResponseOrIgnored as unknown as typeof ServerResponse,
  };
};
