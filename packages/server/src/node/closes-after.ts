import { errorTable } from '@plantstore/core/errors';
import type { Answer } from '../http/answer.ts';
import type { Exchange } from './exchange.ts';

/** Returns whether the request is for a proxy or for another protocol. */
const isForProxyOrUpgrade = ({ head }: Exchange): boolean =>
  // After Upgrade, Node drops bytes of the next request that have already arrived.
  head.upgrade !== undefined || head.method === 'TRACE' || !head.target.startsWith('/');

/** Returns whether an unwanted body is known to be small enough to be read and dropped. */
const isBodySmall = ({ head, connection }: Exchange): boolean =>
  head.transferEncoding === undefined &&
  Number(head.contentLength ?? 0) <= connection.context.service.maxBodyBytes;

/** Errors after which the start of the next request is unknown. */
const framingErrors: ReadonlySet<number | undefined> = new Set([
  errorTable['bad-request'].error,
  errorTable['headers-too-large'].error,
]);

/** Returns whether the connection ends after an answer (RFC 9112 §9.6). */
export const closesAfter = (exchange: Exchange, { error }: Answer): boolean => {
  const { response, connection, phase } = exchange;
  if (exchange.isBroken || exchange.isExcess || !response.shouldKeepAlive) return true;
  // The client may or may not send its body. Node ends such a connection, too.
  if (exchange.awaitsContinue || isForProxyOrUpgrade(exchange)) return true;
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
