import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { IncomingMessage as Incoming, ServerResponse as Outgoing } from './builtin-http.ts';
import type { Connection } from './connection.ts';

/** Drops its body. */
class IgnoredRequest extends Incoming {
  override push(): boolean {
    return true;
  }
}

/** Keeps no listener, because Node adds some for each request. */
class IgnoredResponse extends Outgoing {
  override on(): this {
    return this;
  }
}

/**
 * Options of an HTTP server: all requests that a connection ignores share two objects. Node parses a packet
 * to its end, and keeps for each of its thousands of requests what it is given here.
 */
export const ignoredMessageOptions = (
  connectionOf: (socket: Duplex) => Connection | undefined,
): ServerOptions => {
  const ignored = new WeakMap<Connection, { request: IncomingMessage; response: ServerResponse }>();

  const ignoredOf = (socket: IncomingMessage['socket']) => {
    const connection = connectionOf(socket);
    if (connection?.refusesMore !== true) return undefined;
    const known = ignored.get(connection);
    if (known !== undefined) return known;
    const request = new IgnoredRequest(socket);
    const made = { request, response: new IgnoredResponse(request) };
    ignored.set(connection, made);
    return made;
  };

  // Functions, because a class could not return an object of another one without making its own first.
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
