import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorName } from '@plantstore/core/errors';
import type { RequestHead } from '../http/request-head.ts';
import { RequestRecord, type RequestSource } from '../http/request-record.ts';
import { errorResponse, type ResponseData } from '../http/responses.ts';
import type { RawResponse } from './connection/connection.ts';
import type { RequestHandler } from './create-request-listener.ts';
import { headOfIncoming } from './connection/incoming.ts';

/** Responds to a parse error or a timeout of a connection, after its earlier responses. */
export function respondToClientError(
  { shared, connectionOf }: RequestHandler,
  error: ParserError,
  socket: Duplex,
): void {
  if (socket.destroyed) return;
  const connection = connectionOf(socket);
  const name = errorNameOf(error);
  const response: ResponseData = { ...errorResponse(name), parserCode: error.code };
  connection.fail(name === 'request-timeout' ? 'timeout' : 'parse error', response, () =>
    rawResponse(response, shared, undefined, connection.address),
  );
}

/** Responds to CONNECT, after the earlier responses of the connection. */
export function respondToConnect(
  { shared, connectionOf }: RequestHandler,
  request: IncomingMessage,
  socket: Duplex,
): void {
  const connection = connectionOf(socket);
  connection.watch();
  const head = headOfIncoming(request);
  void Promise.resolve(shared.service.admit(head)).then(({ response }) => {
    if (response === undefined) return;
    const headers = [...response.headers, ...shared.service.headersFor(head.origin)];
    connection.endAfterResponses('no tunnel', () =>
      rawResponse({ ...response, headers }, shared, head, connection.address),
    );
  });
}

type ParserError = NodeJS.ErrnoException & { readonly reason?: string };

/** Maps an error of Node's HTTP parser to the error table. */
function errorNameOf({ code = '', reason }: ParserError): ErrorName {
  // HPE_INVALID_TRANSFER_ENCODING is also its code for one beside Content-Length, which is invalid
  // framing.
  if (reason?.includes('Content-Length') === true) return 'bad-request';
  return parserErrors.get(code) ?? 'bad-request';
}

const parserErrors: ReadonlyMap<string, ErrorName> = new Map([
  ['HPE_HEADER_OVERFLOW', 'headers-too-large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 'headers-too-large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'request-timeout'],
  ['HPE_INVALID_TRANSFER_ENCODING', 'not-implemented'],
]);

/** Makes a response for which Node has no response object, with a record that begins now. */
function rawResponse(
  response: ResponseData,
  source: RequestSource,
  head: RequestHead | undefined,
  address: string | undefined,
): RawResponse {
  const record = new RequestRecord(source, head, address);
  record.respond(response);
  const { status, headers, body } = response;
  const withId = [...headers, 'X-Request-Id', record.id];
  return { status, headers: withId, body, onEnded: (isWritten) => record.end(isWritten) };
}
