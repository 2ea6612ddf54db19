import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorName } from '@plantstore/core/errors';
import { type Answer, errorAnswer, type Headers } from '../http/answer.ts';
import { requestIdOf } from '../http/request-id.ts';
import type { Service } from '../http/service.ts';
import { STATUS_CODES } from './builtin-http.ts';
import { endInStages } from './drain.ts';
import { type Exchange, identify } from './exchange.ts';
import type { Logger } from './logger.ts';
import type { RequestInfo } from './request-events.ts';
import type { CurrentExchange } from './request-listener.ts';
import { reportEnd, reportStart } from './request-report.ts';

const rawResponse = (
  { status, headers, body }: Answer,
  more: Headers,
  requestId: string,
): string => {
  const fields = [
    ...headers,
    ...more,
    ['X-Request-Id', requestId],
    ['Date', new Date().toUTCString()],
    ['Connection', 'close'],
  ];
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`;
};

/** Writes an answer where there is no response object to write it, and ends the connection. */
const answerRaw = (
  socket: Duplex,
  answer: Answer,
  logger: Logger,
  request: RequestInfo = { requestId: randomUUID() },
  headers: Headers = [],
): void => {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const who = () => request;
  const startedAt = performance.now();
  reportStart(who);
  endInStages(socket, rawResponse(answer, headers, request.requestId), (isWritten) =>
    reportEnd(logger, { request: who, answer, startedAt, isWritten }),
  );
};

type ParserError = NodeJS.ErrnoException & {
  readonly reason?: string;
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
};

/** method SP request-target SP HTTP-version (RFC 9112 §3). */
const wholeRequestLine = /^[\w!#$%&'*+.^`|~-]+ [^ ]+ HTTP\/\d\.\d\r?$/;
const begunRequestLine = /^[\w!#$%&'*+.^`|~-]+(?: [^ ]*(?: [HTP/\d.]*)?)?\r?$/;

/** Whether the line over which the parser stumbled is a request line, as far as it has come. */
const isRequestLine = ({ rawPacket, bytesParsed = 0 }: ParserError): boolean => {
  const packet = rawPacket?.toString('latin1') ?? '';
  const start = packet.lastIndexOf('\n', bytesParsed - 1) + 1;
  const end = packet.indexOf('\n', start);
  return end === -1
    ? begunRequestLine.test(packet.slice(start))
    : wholeRequestLine.test(packet.slice(start, end));
};

/** Whether HTTP/1 was sent with a method that Node's parser knows from RTSP or HTTP/2. */
const isMethodOfAnotherProtocol = ({ reason }: ParserError): boolean =>
  reason === 'Invalid method for HTTP/x.x request' ||
  reason === 'Expected HTTP/2 Connection Preface';

/** Which row of the error table stands for what Node's HTTP parser refuses. */
const nameOf = (error: ParserError): ErrorName => {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return 'headers-too-large';
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'request-timeout';
    case 'HPE_INVALID_METHOD':
      return isRequestLine(error) ? 'not-implemented' : 'bad-request';
    case 'HPE_INVALID_CONSTANT':
    case 'HPE_INVALID_VERSION':
      return isMethodOfAnotherProtocol(error) ? 'not-implemented' : 'bad-request';
    case 'HPE_INVALID_TRANSFER_ENCODING':
      // The same code says that Transfer-Encoding and Content-Length stand together: bad framing.
      return error.reason?.includes('Content-Length') ? 'bad-request' : 'not-implemented';
    default:
      return 'bad-request';
  }
};

/** Goes on once a connection's exchanges, of which this is the latest, have had their answers. */
const afterAnswers = (latest: Exchange | undefined, goOn: () => void): void => {
  if (latest === undefined || latest.response.writableFinished) goOn();
  else {
    // Before Node hears of it, which then ends our side where the client has ended its own.
    latest.response.prependOnceListener('finish', () => {
      if (!latest.hasEnded()) goOn();
    });
  }
};

/**
 * Answers what Node's parser or its timeouts refuse, in its turn on the connection: through the
 * response whose body broke, or raw after the responses before it.
 */
export const createClientErrorListener = (currentExchange: CurrentExchange, logger: Logger) => {
  const refused = new WeakSet<Duplex>();
  return (error: ParserError, socket: Duplex): void => {
    // Whoever has left gets no answer, and did nothing wrong.
    if (refused.has(socket) || socket.destroyed) return;
    refused.add(socket);
    const exchange = currentExchange(socket);
    const answer = errorAnswer(nameOf(error));
    if (exchange === undefined || exchange.request.complete) {
      afterAnswers(exchange, () => answerRaw(socket, answer, logger));
    } else if (!exchange.response.headersSent) {
      exchange.answer(answer, 'broken');
      // Node 22 forgets a request that is answered, and whoever reads its body would wait for ever.
      socket.once('close', () => exchange.request.destroy());
    }
    // Its request has had its answer, which is still to be read; the rest of its body is of no use.
    else endInStages(socket);
  };
};

/** Answers CONNECT, in its turn on the connection; Node has given the socket out of its hands. */
export const createConnectListener =
  ({ admit, headersFor }: Service, currentExchange: CurrentExchange, logger: Logger) =>
  (request: IncomingMessage, socket: Duplex): void => {
    // Node listens no more; a client that leaves would be an uncaught exception.
    socket.on('error', () => {});
    // Nor does it end one whose client never reads the answers before this one.
    socket.on('timeout', () => socket.destroy());
    const { method = '', url: target = '', httpVersion, rawHeaders } = request;
    const who = identify(request, requestIdOf(rawHeaders));
    void admit({ method, target, httpVersion, rawHeaders }).then((admission) => {
      if (admission.kind === 'admitted') return;
      afterAnswers(currentExchange(socket), () =>
        answerRaw(socket, admission.answer, logger, who(), headersFor(rawHeaders)),
      );
    });
  };
