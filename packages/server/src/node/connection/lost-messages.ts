import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { loadHttp } from '../builtin-http.ts';

/**
 * Returns options of an HTTP server with which all requests of a lost connection share two objects.
 * Node parses a packet to its end, and keeps a pair of objects for each of its requests, which can
 * be thousands, until it closes the socket.
 */
export function shareLostMessages(): ServerOptions {
  const { IncomingMessage: Incoming, ServerResponse: Outgoing } = loadHttp();

  /** A response that keeps no listeners, because Node adds some for each request. */
  class SharedResponse extends Outgoing {
    override on(): this {
      return this;
    }
  }

  const shared = new WeakMap<Duplex, SharedResponse>();
  // Functions, because the constructor of a derived class would always create an object of its own.
  function RequestOrShared(socket: IncomingMessage['socket']) {
    if (!socket.destroyed) return new Incoming(socket);
    const response = shared.get(socket) ?? new SharedResponse(new Incoming(socket).destroy());
    shared.set(socket, response);
    // Otherwise, Node would take the fields of a later request for trailers of the first.
    return Object.assign(response.req, { complete: false, rawHeaders: [], headers: undefined });
  }
  function ResponseOrShared(request: IncomingMessage, options: object) {
    const Response = Outgoing as new (request: IncomingMessage, options: object) => ServerResponse;
    return shared.get(request.socket) ?? new Response(request, options);
  }
  return {
    IncomingMessage: RequestOrShared as unknown as typeof IncomingMessage,
    ServerResponse: ResponseOrShared as unknown as typeof ServerResponse,
  };
}
