import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorName } from '@plantstore/core/errors';
import { RequestRecord } from '../http/request-record.ts';
import { errorResponse, pairsOf, type ResponseData } from '../http/responses.ts';
import type { Connection } from './connection.ts';
import { closeSlowly, dropInput } from './drain.ts';
import type { RequestHandler } from './create-request-listener.ts';
import { headOf, loadHttp } from './builtin-http.ts';

/**
 * Responds to a parse error or a timeout of a connection, after its earlier responses. An incomplete request has a response
 * object of its own.
 */
export function respondToClientError(
  handler: RequestHandler,
  error: ParserError,
  socket: Duplex,
): void {
  if (refused.has(socket) || socket.destroyed) return;
  const connection = handler.connectionOf(socket);
  const response: ResponseData = { ...errorResponse(errorNameOf(error)), parserCode: error.code };
  const again = () => respondToClientError(handler, error, socket);
  if (response.status === 408 && connection?.afterUnreadTime(again)) return;
  refused.add(socket);
  // A request that arrives after its timeout is not served.
  dropInput(socket);
  const exchange = connection?.latest;
  if (exchange === undefined || exchange.request.complete) {
    const address = addressOf(socket);
    afterResponses(connection, () =>
      respond(socket, response, new RequestRecord(handler.shared, undefined, address)),
    );
  } else if (!exchange.response.headersSent) {
    exchange.failWith(response);
  } else {
    // The response has begun; the rest of the body of the request is unwanted.
    exchange.response.end();
    afterResponses(connection, () => closeSlowly(socket));
  }
}

/** Connections with a parse error or a timeout. Node can report several for one. */
const refused = new WeakSet<Duplex>();

/** Responds to CONNECT, after the earlier responses of the connection. */
export function respondToConnect(
  { shared, connectionOf }: RequestHandler,
  request: IncomingMessage,
  socket: Duplex,
): void {
  // Node has removed its listeners; without one, a connection reset would be an uncaught exception.
  socket.on('error', () => {});
  // A client may never read the responses before this one.
  socket.on('timeout', () => socket.destroy());
  const head = headOf(request);
  const address = addressOf(socket);
  void Promise.resolve(shared.service.admit(head)).then(({ response }) => {
    if (response === undefined) return;
    const headers = [...response.headers, ...shared.service.headersFor(head.origin)];
    afterResponses(connectionOf(socket), () =>
      respond(socket, { ...response, headers }, new RequestRecord(shared, head, address)),
    );
  });
}

type ParserError = NodeJS.ErrnoException & { readonly reason?: string };

/** Maps an error of Node's HTTP parser to the error table. */
function errorNameOf({ code = '', reason }: ParserError): ErrorName {
  // HPE_INVALID_TRANSFER_ENCODING is also its code for one beside Content-Length, which is invalid framing.
  if (reason?.includes('Content-Length') === true) return 'bad-request';
  return parserErrors.get(code) ?? 'bad-request';
}

const parserErrors: ReadonlyMap<string, ErrorName> = new Map([
  ['HPE_HEADER_OVERFLOW', 'headers-too-large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 'headers-too-large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'request-timeout'],
  ['HPE_INVALID_TRANSFER_ENCODING', 'not-implemented'],
]);

/** Called at once, because a lost connection has no address. */
function addressOf(socket: Duplex): string | undefined {
  return (socket as { readonly remoteAddress?: string }).remoteAddress;
}

/** Calls `onDone` once all responses of a connection are sent, unless one of them ended it. */
function afterResponses(connection: Connection | undefined, onDone: () => void): void {
  const doneUnlessEnded = () => {
    if (connection?.hasEnded !== true) onDone();
  };
  const response = connection?.latest?.response;
  if (response === undefined || response.writableFinished) doneUnlessEnded();
  // Before Node's listener, which ends the connection if the client has half-closed it. Not in the context of that response.
  else response.prependOnceListener('finish', AsyncResource.bind(doneUnlessEnded));
}

/** Writes a response for which Node has no response object, and ends the connection. */
function respond(socket: Duplex, response: ResponseData, record: RequestRecord): void {
  record.respond(response);
  const { status, headers, body } = response;
  const own = ['X-Request-Id', record.id, 'Date', new Date().toUTCString(), 'Connection', 'close'];
  const lines = pairsOf([...headers, ...own]).map(([name, value]) => `${name}: ${value}\r\n`);
  const statusLine = `HTTP/1.1 ${status} ${loadHttp().STATUS_CODES[status] ?? ''}\r\n`;
  const bytes = `${statusLine}${lines.join('')}\r\n${body}`;
  closeSlowly(socket, bytes, AsyncResource.bind(record.end.bind(record)));
}
