import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ErrorName } from '@plantstore/core/errors';
import { type ResponseData, errorResponse, type Fields } from '../http/response-data.ts';
import { loadHttp } from './builtin-http.ts';
import type { Connection } from './connection.ts';
import { headOf } from './exchange.ts';
import { closeLingering } from './lingering-close.ts';
import type { Logger } from '../http/logger.ts';
import type { RequestInfo } from '../http/request-events.ts';
import type { RequestHandler } from './request-handler.ts';
import { infoOf, publishEnd, publishStart } from '../http/request-log.ts';
import type { ServerContext } from './server-context.ts';

const rawResponse = ({ status, fields, body }: ResponseData, more: Fields): string => {
  const all = [...fields, ...more, 'Date', new Date().toUTCString(), 'Connection', 'close'];
  const lines = all.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  return `HTTP/1.1 ${status} ${loadHttp().STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`;
};

/** Writes a response for which Node has no response object, and ends the connection. */
const respondRaw = (
  socket: Duplex,
  responseData: ResponseData,
  logger: Logger,
  info: RequestInfo,
  fields: Fields = [],
): void => {
  const request = { info };
  const startedAt = performance.now();
  publishStart(request);
  const bytes = rawResponse(responseData, [...fields, 'X-Request-Id', info.requestId]);
  closeLingering(socket, bytes, (isWritten) =>
    publishEnd(logger, { request, responseData, startedAt, tokenName: undefined, isWritten }),
  );
};

type ParserError = NodeJS.ErrnoException & { readonly reason?: string };

/** Maps an error of Node's HTTP parser to the error table. */
const nameOf = (error: ParserError): ErrorName => {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return 'headers-too-large';
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'request-timeout';
    case 'HPE_INVALID_TRANSFER_ENCODING':
      // The same code is used for Transfer-Encoding together with Content-Length, which is invalid framing.
      return error.reason?.includes('Content-Length') ? 'bad-request' : 'not-implemented';
    default:
      return 'bad-request';
  }
};

const infoOfUnparsed = (socket: Duplex, { clientAddressOf }: ServerContext): RequestInfo => {
  const client = socket instanceof Socket ? clientAddressOf(socket.remoteAddress) : undefined;
  return { requestId: randomUUID(), ...(client !== undefined && { client }) };
};

/** Calls `onDone` once all responses of a connection are sent, unless one of them ended it. */
const afterResponses = (connection: Connection | undefined, onDone: () => void): void => {
  const doneUnlessEnded = () => {
    if (connection?.hasEnded !== true) onDone();
  };
  const response = connection?.latest?.response;
  if (response === undefined || response.writableFinished) doneUnlessEnded();
  // Before Node's listener, which ends the connection if the client has half-closed it.
  else response.prependOnceListener('finish', doneUnlessEnded);
};

/**
 * Creates a `'clientError'` listener that responds to parse errors and timeouts, after the earlier responses
 * of the connection. An incomplete request has a response object of its own.
 */
export const createClientErrorListener = ({ context, connectionOf }: RequestHandler) => {
  const refused = new WeakSet<Duplex>();
  return (error: ParserError, socket: Duplex): void => {
    if (refused.has(socket) || socket.destroyed) return;
    refused.add(socket);
    const connection = connectionOf(socket);
    const exchange = connection?.latest;
    const responseData = errorResponse(nameOf(error));
    if (exchange === undefined || exchange.request.complete) {
      const info = infoOfUnparsed(socket, context);
      afterResponses(connection, () => respondRaw(socket, responseData, context.logger, info));
    } else if (!exchange.response.headersSent) {
      exchange.break(responseData);
    } else {
      // The response has begun; the rest of the body of the request is unwanted.
      exchange.response.end();
      afterResponses(connection, () => closeLingering(socket));
    }
  };
};

/** Creates a `'connect'` listener that responds to CONNECT after the earlier responses of the connection. */
export const createConnectListener =
  ({ context, connectionOf }: RequestHandler) =>
  (request: IncomingMessage, socket: Duplex): void => {
    // Node has removed its listeners; without one, a connection reset would be an uncaught exception.
    socket.on('error', () => {});
    // A client may never read the responses before this one.
    socket.on('timeout', () => socket.destroy());
    const head = headOf(request);
    const { service, logger, clientAddressOf } = context;
    const info = infoOf(head, clientAddressOf(request.socket.remoteAddress, head));
    void Promise.resolve(service.admit(head)).then((admission) => {
      if (admission.kind === 'admitted') return;
      afterResponses(connectionOf(socket), () =>
        respondRaw(socket, admission.responseData, logger, info, service.fieldsFor(head.origin)),
      );
    });
  };
