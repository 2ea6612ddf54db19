/** A request in events and in the log. */
export type RequestInfo = {
  /**
   * The `X-Request-Id` of the request if it is well-formed, or a generated one. The response has the same.
   * A client can send one id twice: compare this object, not the id.
   */
  readonly requestId: string;
  /** `undefined` if the request could not be parsed. */
  readonly method?: string;
  /** The path as it was sent, without the query; `undefined` if the request could not be parsed. */
  readonly path?: string;
  /**
   * The client's address: the connection's, or the one that a trusted proxy names (`trustedProxies`). `undefined` on a Unix
   * socket, and if the connection was lost at once.
   */
  readonly client?: string;
};

/** The message of the channel `plantstore:request:start`, published when the head of a request has arrived. */
export type RequestStartEvent = {
  /** The same object in every event of a request. */
  readonly request: RequestInfo;
};

/** The message of the channel `plantstore:request:error`, published when the response to a request is 500 or 503. */
export type RequestErrorEvent = {
  /** The same object in every event of a request. */
  readonly request: RequestInfo;
  /** The status of the response: 500 or 503. */
  readonly status: number;
  /** The number in the body, as in the error table. */
  readonly error: number;
  /** Messages, stacks and codes as text, in one or more lines. */
  readonly cause: string;
};

/**
 * The message of the channel `plantstore:request:end`, published once for each request, when its response
 * is written or its connection is lost.
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
export type RequestEndEvent = {
  /** The same object in every event of a request. */
  readonly request: RequestInfo;
  /** The status of the response; `undefined` if the connection was lost before there was one. */
  readonly status?: number;
  /** The number in the body, as in the error table; `undefined` for a success. */
  readonly error?: number;
  /** Size of the body of the response, in bytes. */
  readonly bytes: number;
  /** From the head of the request to the end of the response, in milliseconds. */
  readonly durationMs: number;
  /** Name of the token that was accepted; `undefined` if none was, or if it has no name. */
  readonly tokenName?: string;
  /**
   * Whether the complete response was written; `false` if the connection was lost before. For a fetch
   * handler: whether it returned a response.
   */
  readonly isWritten: boolean;
};

// Not imported, because workerd has the module only with a compatibility flag.
const diagnostics = globalThis.process?.getBuiltinModule?.('node:diagnostics_channel');
const withoutSubscribers = { hasSubscribers: false, publish: (): void => {} };
const channel = (name: string) => diagnostics?.channel(name) ?? withoutSubscribers;

export const startChannel = channel('plantstore:request:start');
export const errorChannel = channel('plantstore:request:error');
export const endChannel = channel('plantstore:request:end');
