import { errorTable } from '@plantstore/core/errors';
import type { ClientAddressOf } from './client-address.ts';
import { describeCause } from './describe-cause.ts';
import { type Logger, silent } from './logger.ts';
import { type RequestHead, shownPath } from './request-head.ts';
import { byteLength, type ResponseData } from './responses.ts';

/**
 * A request in the events and in the log. It begins when it is made, has at most one response, the
 * first, and ends once.
 */
export class RequestRecord {
  /** The `X-Request-Id` of the response. */
  readonly id: string;
  /** Name of the token that was accepted, if it has one. */
  tokenName: string | undefined;
  /** Whether the server ended its connection, at the deadline of a stop. */
  isCut = false;
  private readonly source: RequestSource;
  private readonly head: RequestHead | undefined;
  private readonly address: string | undefined;
  private readonly startedAt = performance.now();
  private shownInfo: RequestInfo | undefined;
  private response: ResponseData | undefined;

  /** `head` is `undefined` if the request could not be parsed; `address` is the other end's. */
  constructor(source: RequestSource, head: RequestHead | undefined, address?: string) {
    this.source = source;
    this.head = head;
    this.address = address;
    this.id = requestIdOf(head?.requestId);
    if (!startChannel?.hasSubscribers) return;
    startChannel.publish({ request: this.info } satisfies RequestStartEvent);
  }

  /** The request in events, the same object in each. Made on first use. */
  private get info(): RequestInfo {
    if (this.shownInfo !== undefined) return this.shownInfo;
    const { id: requestId, head } = this;
    const path = head && shownPath(head.target);
    const client = this.source.clientAddressOf(this.address, head);
    this.shownInfo = {
      requestId,
      ...(head !== undefined && { method: head.method }),
      ...(path !== undefined && { path }),
      ...(client !== undefined && { client }),
    };
    return this.shownInfo;
  }

  /**
   * Notes the response before it is written, and publishes it if it is due to a failure of the
   * server.
   */
  respond(response: ResponseData): void {
    if (this.response !== undefined) return;
    this.response = response;
    const { status, error, cause } = response;
    if (error === undefined || !isServerFault(response)) return;
    if (!errorChannel?.hasSubscribers) return;
    const event = { request: this.info, status, error, cause: describeCause(cause) };
    errorChannel.publish(event satisfies RequestErrorEvent);
  }

  /**
   * Publishes and logs the end: the complete response is written, or it is not and never will be.
   *
   * @param otherStatus - status of the response that another listener of the server has sent
   */
  end(isWritten: boolean, otherStatus?: number): void {
    const { logger } = this.source;
    if (logger === silent && !endChannel?.hasSubscribers) return;
    const { tokenName } = this;
    // Of a response that was not sent, only a failure of the server is of interest.
    const isOurs = otherStatus === undefined || isServerFault(this.response);
    const response = isOurs ? this.response : undefined;
    const status = otherStatus ?? response?.status;
    const event: RequestEndEvent = {
      request: this.info,
      ...(status !== undefined && { status }),
      ...(response?.error !== undefined && { error: response.error }),
      bytes: this.head?.method === 'HEAD' ? 0 : byteLength(response?.body ?? ''),
      durationMs: Math.round((performance.now() - this.startedAt) * 1000) / 1000,
      ...(tokenName !== undefined && { tokenName }),
      isWritten,
    };
    endChannel?.publish(event);
    if (logger !== silent) log(logger, event, response, this.isCut);
  }
}

/** What the records of a server share. */
export type RequestSource = {
  readonly logger: Logger;
  readonly clientAddressOf: ClientAddressOf;
};

/** A request in events and in the log. */
export type RequestInfo = {
  /**
   * The `X-Request-Id` of the request if it is well-formed, or a generated one. The response has
   * the same. A client can send one id twice: compare this object, not the id.
   */
  readonly requestId: string;
  /** `undefined` if the request could not be parsed. */
  readonly method?: string;
  /** The path as it was sent, without the query, at most 1024 characters; absent if not parsed. */
  readonly path?: string;
  /**
   * The client's address: the connection's, or the one that a trusted proxy names
   * (`trustedProxies`). `undefined` on a Unix socket without such a proxy, and if the connection
   * was lost at once.
   */
  readonly client?: string;
};

/** The message of the channel `plantstore:request:start`, published when a head has arrived. */
export type RequestStartEvent = {
  /** The same object in every event of a request. */
  readonly request: RequestInfo;
};

/** The message of the channel `plantstore:request:error`, published for a 500 or 503. */
export type RequestErrorEvent = RequestStartEvent & {
  /** The status of the response: 500 or 503. */
  readonly status: number;
  /** The number in the body, as in the error table. */
  readonly error: number;
  /** Messages, stacks and codes as text, in one or more lines. */
  readonly cause: string;
};

/**
 * The message of the channel `plantstore:request:end`, published once for each request, when its
 * response is written or its connection is lost.
 *
 * @example
 * ```ts
 * import { subscribe } from 'node:diagnostics_channel';
 * import type { RequestEndEvent } from '@plantstore/server';
 *
 * subscribe('plantstore:request:end', (event) => {
 *   const { request, status, durationMs } = event as RequestEndEvent;
 *   console.log(request.requestId, status, durationMs);
 * });
 * ```
 */
export type RequestEndEvent = RequestStartEvent & {
  /**
   * The status of the response, also of one that another listener of the server has sent;
   * `undefined` if the connection was lost before there was one.
   */
  readonly status?: number;
  /** The number in the body, as in the error table; `undefined` for a success. */
  readonly error?: number;
  /** Size of the body of the response, in bytes; 0 for HEAD. */
  readonly bytes: number;
  /** From the head of the request to the end of the response, in milliseconds. */
  readonly durationMs: number;
  /** Name of the token that was accepted; `undefined` if none was, or if it has no name. */
  readonly tokenName?: string;
  /**
   * Whether the complete response was written; `false` if the connection was lost before. For a
   * fetch handler: whether it returned a response.
   */
  readonly isWritten: boolean;
};

// Not imported, because workerd has the module only with a compatibility flag.
const diagnostics = globalThis.process?.getBuiltinModule?.('node:diagnostics_channel');
const startChannel = diagnostics?.channel('plantstore:request:start');
const errorChannel = diagnostics?.channel('plantstore:request:error');
const endChannel = diagnostics?.channel('plantstore:request:end');

/** Returns the id that was sent, or a generated one if that is not safe in a log and a header. */
function requestIdOf(sent: string | undefined): string {
  return sent !== undefined && /^[\w.~+/=:-]{1,128}$/.test(sent) ? sent : crypto.randomUUID();
}

/** Returns whether a response is due to a failure of the server or of its dependencies. */
function isServerFault(response: ResponseData | undefined): boolean {
  const status = response?.status;
  return status === errorTable.internal.status || status === errorTable.unavailable.status;
}

function log(
  logger: Logger,
  event: RequestEndEvent,
  response: ResponseData | undefined,
  isCut: boolean,
): void {
  const { request, isWritten, ...result } = event;
  const isFault = isServerFault(response);
  const hasCause = isFault || response?.cause !== undefined;
  const cause = hasCause && { cause: describeCause(response?.cause) };
  const code = response?.parserCode;
  const fields = { ...request, ...result, ...(code !== undefined && { code }), ...cause };
  if (!isFault && isCut) logger.warn(fields, 'request cut: the server stopped before its response');
  else if (!isFault) logger.info(fields, isWritten ? 'request' : 'request aborted');
  else if (response?.status === errorTable.internal.status) logger.error(fields, 'request failed');
  else logger.warn(fields, 'request not served');
}
