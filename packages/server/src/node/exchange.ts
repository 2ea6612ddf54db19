import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer, Headers } from '../http/answer.ts';
import { requestIdOf } from '../http/request-id.ts';
import { shownPath } from '../http/request-path.ts';
import { drain } from './drain.ts';
import type { Logger } from './logger.ts';
import type { RequestInfo } from './request-events.ts';
import { reportAnswer, reportEnd, reportStart } from './request-report.ts';

/** One request and the answer to it. */
export type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Sends the answer, once; a later one is dropped. */
  readonly answer: (answer: Answer, ending?: Ending) => void;
  /** Whether an answer was sent that ends the connection. */
  readonly hasEnded: () => boolean;
  /** Hears that there will be no answer but one that was given already. */
  readonly giveUp: () => void;
  /** Hears that nothing more can be sent. */
  readonly breakOff: () => void;
};

/** For how long an unwanted body is dropped, in milliseconds. */
const maxDrainMs = 5_000;

/** How the connection goes on after the answer; `broken` where its bytes are HTTP no more. */
export type Ending = 'keep' | 'close' | 'broken';

type Context = {
  readonly logger: Logger;
  /** What every answer to this request carries besides its own. */
  readonly headers: Headers;
  /** Whether this answer is the last one that the connection is to carry. */
  readonly isLast: () => boolean;
  /** Hears that an answer has said so: nothing that comes after it may be served (RFC 9112 §9.6). */
  readonly onLast: () => void;
  /** Hears that nothing of this exchange is left to be sent. */
  readonly onOver: () => void;
};

/** Who a request is; an object of its own only where somebody asks. */
export const identify = (
  { method = '', url = '' }: IncomingMessage,
  requestId: string,
): (() => RequestInfo) => {
  let info: RequestInfo | undefined;
  return () => {
    if (info !== undefined) return info;
    const path = shownPath(url);
    info = { requestId, method, ...(path !== undefined && { path }) };
    return info;
  };
};

const ignore = (): void => {};

/** The form in which Node takes fields fastest: names and values in turn. */
const flatten = (own: Headers, more: Headers, requestId: string, isLast: boolean): string[] => {
  const fields: string[] = [];
  for (const [name, value] of own) fields.push(name, value);
  for (const [name, value] of more) fields.push(name, value);
  fields.push('X-Request-Id', requestId);
  if (isLast) fields.push('Connection', 'close');
  return fields;
};

export const openExchange = (
  request: IncomingMessage,
  response: ServerResponse,
  { logger, headers, isLast, onLast, onOver }: Context,
): Exchange => {
  const requestId = requestIdOf(request.rawHeaders);
  const who = identify(request, requestId);
  const startedAt = performance.now();
  let answered: Answer | undefined;
  let hasEnded = false;
  let isDecided = false;
  let isOver = false;
  let isReported = false;

  const report = (isWritten: boolean) => {
    if (isReported) return;
    isReported = true;
    reportEnd(logger, { request: who, answer: answered, startedAt, isWritten });
  };
  /** A fault that comes up after the client has left is to be told, too: both are waited for. */
  const reportIfEnded = () => {
    // Node 22 says that a response is finished, too, when its connection was reset.
    if (isDecided && isOver) report(response.writableFinished && !request.socket.destroyed);
  };
  const over = () => {
    if (isOver) return;
    isOver = true;
    onOver();
    reportIfEnded();
  };

  reportStart(who);
  // A client that leaves early is no fault; whatever was written for it is dropped.
  response.on('error', ignore);
  response.on('close', over);

  return {
    request,
    response,
    hasEnded: () => hasEnded,
    answer(answer, ending = 'keep') {
      if (answered !== undefined) return;
      answered = answer;
      isDecided = true;
      reportAnswer(who, answer);
      const close = ending !== 'keep' || isLast() || !response.shouldKeepAlive;
      if (close) onLast();
      hasEnded = close;
      response.writeHead(answer.status, flatten(answer.headers, headers, requestId, close));
      if (close && !request.complete && ending !== 'broken') {
        // The client can read the whole answer while its unwanted body is still being dropped.
        response.write(answer.body, (error) => {
          if (!error) report(true);
        });
        void drain(request, maxDrainMs).then(() => response.end());
      } else {
        response.end(answer.body);
      }
      reportIfEnded();
    },
    giveUp() {
      isDecided = true;
      reportIfEnded();
    },
    breakOff: over,
  };
};
