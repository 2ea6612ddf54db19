import type { RequestHead } from '../../http/request-head.ts';
import type { ResponseData } from '../../http/responses.ts';
import type { BodyResult } from './incoming.ts';

/** What an exchange can do with its request, in the order of its connection. */
export type Turn = {
  readonly head: RequestHead;
  /** The address at the other end of the connection; `undefined` if it has none. */
  readonly address: string | undefined;
  /** What the connection has decided about the request; `undefined` if the exchange decides. */
  readonly outcome: Outcome | undefined;
  /** Reads the body. Calls back once, or never if the request is decided before. */
  read(onBody: (body: BodyResult) => void): void;
  /**
   * Sends a response with these headers, which it may change. Returns the response, or a 500 if
   * another listener has made it impossible to send.
   */
  send(response: ResponseData, headers: string[]): ResponseData;
  /** Lets the next request begin, because this one is decided. */
  leave(): void;
};

/** The response, to a parse error or a timeout; or none, because none can be sent any more. */
export type Outcome = { readonly response?: ResponseData };

/** What a connection calls of an exchange. */
export type Exchanging = {
  /** Called once, when the requests before it are decided: as it arrives, or later. */
  begin(isLater: boolean): void;
  /** Called once, when a response is sent, ours or that of another listener, or is lost. */
  end(isWritten: boolean, otherStatus: number | undefined): void;
};

/** What the connections of a server share. */
export type ConnectionRules = {
  readonly maxBodyBytes: number;
  /** Returns whether the server closes. */
  readonly isClosing: () => boolean;
  readonly createExchange: (turn: Turn) => Exchanging;
};
