/** A request, as its events and its line in the log name it. */
export type RequestInfo = {
  /**
   * The `X-Request-Id` that it brought, where that is well-formed, or else one of our own; the
   * response has it too. A client can send one id twice: compare this object, not the id.
   */
  readonly requestId: string;
  /** `undefined` for what could not be parsed. */
  readonly method?: string;
  /** As it was sent, without a query; `undefined` for what could not be parsed. */
  readonly path?: string;
  /**
   * The client's address: the connection's, or the one that a trusted proxy names (`trustedProxies`). `undefined` on a Unix
   * socket, and where the connection was lost at once.
   */
  readonly client?: string;
};

/** What is published to `plantstore:request:start`: the head of a request has come. */
export type RequestStartEvent = {
  /** The same object in every event of a request. */
  readonly request: RequestInfo;
};

/** What is published to `plantstore:request:error`: a request is answered 500 or 503. */
export type RequestErrorEvent = {
  /** The same object in every event of a request. */
  readonly request: RequestInfo;
  /** Of the answer: 500 or 503. */
  readonly status: number;
  /** The number in the body, as in the error table. */
  readonly error: number;
  /** Messages, stacks and codes, as text for people; it may have several lines. */
  readonly cause: string;
};

/**
 * What is published to `plantstore:request:end`, once for each request: its answer is written, or
 * the connection is gone.
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
  /** Of the answer; `undefined` where the connection was gone before there was one. */
  readonly status?: number;
  /** The number in the body, as in the error table; `undefined` for a success. */
  readonly error?: number;
  /** Size of the answer's body, in bytes. */
  readonly bytes: number;
  /** From the head of the request to the end of the answer, in milliseconds. */
  readonly durationMs: number;
  /** Name of the token that was accepted; `undefined` where none was, or where it has no name. */
  readonly tokenName?: string;
  /**
   * Whether the whole answer was written; `false` where the connection was gone before. For a fetch
   * handler: whether there is a response.
   */
  readonly isWritten: boolean;
};

// Not imported, because workerd has it only with a compatibility flag.
const diagnostics = globalThis.process?.getBuiltinModule?.('node:diagnostics_channel');
const withoutSubscribers = { hasSubscribers: false, publish: (): void => {} };
const channel = (name: string) => diagnostics?.channel(name) ?? withoutSubscribers;

export const startChannel = channel('plantstore:request:start');
export const errorChannel = channel('plantstore:request:error');
export const endChannel = channel('plantstore:request:end');
