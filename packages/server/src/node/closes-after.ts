import { errorTable } from '@plantstore/core/errors';
import type { RequestHead } from '../http/request-head.ts';

/** How much of the request's body has been read when the response begins. */
export type BodyRead = 'nothing' | 'a part' | 'everything';

/** Returns whether the request is for a proxy or for another protocol. */
const isForProxyOrUpgrade = ({ upgrade, method, target }: RequestHead): boolean =>
  // After Upgrade, Node drops bytes of the next request that have already arrived.
  upgrade !== undefined || method === 'TRACE' || !target.startsWith('/');

/** Errors after which the start of the next request is unknown. */
const framingErrors: ReadonlySet<number | undefined> = new Set([
  errorTable['bad-request'].error,
  errorTable['headers-too-large'].error,
]);

/**
 * Returns whether a response with this error number, or a success, has to end the connection (RFC 9112 §9.6):
 * the next request could not be found, or a body that is too large would have to be read first.
 */
export const closesAfter = (
  head: RequestHead,
  bodyRead: BodyRead,
  maxBodyBytes: number,
  error: number | undefined,
): boolean => {
  if (isForProxyOrUpgrade(head)) return true;
  if (bodyRead !== 'nothing') return bodyRead === 'a part';
  // A small body is read and dropped.
  const isBodySmall =
    head.transferEncoding === undefined && Number(head.contentLength ?? 0) <= maxBodyBytes;
  return framingErrors.has(error) || !isBodySmall;
};
