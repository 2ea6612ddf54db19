import { errorTable } from '@plantstore/core/errors';
import type { Answer } from '../http/answer.ts';
import type { Exchange } from './exchange.ts';

/** Whether the client takes the server for a proxy or another protocol. */
const isForAnother = ({ head }: Exchange): boolean =>
  // After Upgrade, Node loses what has arrived of the next request.
  head.upgrade !== undefined || head.method === 'TRACE' || !head.target.startsWith('/');

/** Whether an unwanted body, if one follows, is known to be small enough to be dropped. */
const isBodySmall = ({ head, connection }: Exchange): boolean =>
  head.transferEncoding === undefined &&
  Number(head.contentLength ?? 0) <= connection.context.service.maxBodyBytes;

/** Errors after which the next bytes may not be a request. */
const framingErrors: ReadonlySet<number | undefined> = new Set([
  errorTable['bad-request'].error,
  errorTable['headers-too-large'].error,
]);

/** The one place that decides whether a connection ends after an answer (RFC 9112 §9.6). */
export const closesAfter = (exchange: Exchange, { error }: Answer): boolean => {
  const { response, connection, phase } = exchange;
  if (exchange.isBroken || exchange.isExcess || !response.shouldKeepAlive) return true;
  // Whether a body follows is not known; Node ends such a connection, too.
  if (exchange.awaitsContinue || isForAnother(exchange)) return true;
  if (connection.context.isClosing() && connection.latest === exchange) return true;
  switch (phase) {
    case 'waiting':
    case 'admitting':
      return framingErrors.has(error) || !isBodySmall(exchange);
    case 'reading':
      return true;
    case 'storing':
    case 'decided':
      return false;
  }
};
