import { errorTable } from '@plantstore/core/errors';
import type { ResponseData } from './response-data.ts';
import { byteLength } from './byte-length.ts';
import { describeCause } from './describe-cause.ts';
import { type Logger, silent } from './logger.ts';
import {
  endChannel,
  errorChannel,
  type RequestEndEvent,
  type RequestErrorEvent,
  type RequestInfo,
  type RequestStartEvent,
  startChannel,
} from './request-events.ts';
import type { RequestHead } from './request-head.ts';
import { requestIdOf } from './request-id.ts';
import { shownPath } from './request-path.ts';

/** Returns the request as events and the log describe it. */
export const infoOf = (
  { method, target, requestId: sent }: RequestHead,
  client?: string,
  requestId = requestIdOf(sent),
): RequestInfo => {
  const path = shownPath(target);
  return {
    requestId,
    method,
    ...(path !== undefined && { path }),
    ...(client !== undefined && { client }),
  };
};

/** A request with its description. `info` is computed on first use. */
export type DescribedRequest = { readonly info: RequestInfo };

/** Publishes that the head of a request has arrived. */
export const publishStart = (request: DescribedRequest): void => {
  if (!startChannel.hasSubscribers) return;
  startChannel.publish({ request: request.info } satisfies RequestStartEvent);
};

const { status: internal } = errorTable.internal;
const { status: unavailable } = errorTable.unavailable;

/** Returns whether a response is due to a failure of the server or of its dependencies. */
const isServerFault = ({ status }: ResponseData): boolean =>
  status === internal || status === unavailable;

/** Publishes an error response that is due to a failure of the server. */
export const publishError = (request: DescribedRequest, responseData: ResponseData): void => {
  const { error, status, cause } = responseData;
  if (error === undefined || !isServerFault(responseData) || !errorChannel.hasSubscribers) return;
  errorChannel.publish({
    request: request.info,
    status,
    error,
    cause: describeCause(cause),
  } satisfies RequestErrorEvent);
};

/** How a request ended. */
export type Outcome = {
  readonly request: DescribedRequest;
  /** `undefined` if the connection was lost before there was one. */
  readonly responseData: ResponseData | undefined;
  /** When its head arrived, as a time of `performance.now()`. */
  readonly startedAt: number;
  /** Name of the token that was accepted, if it has one. */
  readonly tokenName: string | undefined;
  /** Whether the whole response was written. */
  readonly isWritten: boolean;
};

const endEventOf = ({
  request,
  responseData,
  startedAt,
  tokenName,
  isWritten,
}: Outcome): RequestEndEvent => ({
  request: request.info,
  ...(responseData !== undefined && { status: responseData.status }),
  ...(responseData?.error !== undefined && { error: responseData.error }),
  bytes: byteLength(responseData?.body ?? ''),
  durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
  ...(tokenName !== undefined && { tokenName }),
  isWritten,
});

const log = (
  logger: Logger,
  event: RequestEndEvent,
  responseData: ResponseData | undefined,
): void => {
  const { request, isWritten, ...result } = event;
  const isFault = responseData !== undefined && isServerFault(responseData);
  const cause =
    isFault || responseData?.cause !== undefined
      ? { cause: describeCause(responseData.cause) }
      : undefined;
  const fields = { ...request, ...result, ...cause };
  if (!isFault) logger.info(fields, isWritten ? 'request' : 'request aborted');
  else if (responseData.status === internal) logger.error(fields, 'request failed');
  else logger.warn(fields, 'request not served');
};

/** Publishes and logs how a request ended. */
export const publishEnd = (logger: Logger, outcome: Outcome): void => {
  if (logger === silent && !endChannel.hasSubscribers) return;
  const event = endEventOf(outcome);
  endChannel.publish(event);
  if (logger !== silent) log(logger, event, outcome.responseData);
};
