import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { readHead, type RequestHead } from '../http/request-head.ts';

/** Loads node:http, for a server only, because a program may import this package for its rules. */
export function loadHttp(): typeof import('node:http') {
  return process.getBuiltinModule('node:http');
}

/** Loads node:https, for TLS only, because a start without TLS would take longer. */
export function loadHttps(): typeof import('node:https') {
  return process.getBuiltinModule('node:https');
}

/** Returns whether a server serves HTTPS. */
export function isTlsServer(server: Server): server is TlsServer {
  return 'setSecureContext' in server;
}

/** Returns the head of a request in the form that the service reads. */
export function headOf(request: IncomingMessage): RequestHead {
  const { method = '', url = '', rawHeaders } = request;
  const { httpVersion = '1.1', headers = {} } = request as Partial<IncomingMessage>;
  if (hasRawHeaders(request)) return readHead(method, url, httpVersion, rawHeaders);
  const fields = Object.entries(headers).flatMap(([name, values = []]) =>
    [values].flat().flatMap((value) => [name, value]),
  );
  return readHead(method, url, httpVersion, fields);
}

/** Returns whether a request has the header fields as they were sent. A simulated one may have `headers` only. */
export function hasRawHeaders({ rawHeaders }: Partial<IncomingMessage>): boolean {
  return rawHeaders !== undefined && rawHeaders.length > 0;
}

/**
 * Returns options of an HTTP server with which all requests of a destroyed connection share two objects. Node parses a
 * packet to its end, and keeps a pair of objects for each of its requests, which can be thousands, until it closes the socket.
 */
export function sharedMessagesOfClosedSockets(): ServerOptions {
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
