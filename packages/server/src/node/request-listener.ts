import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorAnswer } from '../http/answer.ts';
import { createService, type Service, type ServiceOptions } from '../http/service.ts';
import { type Limits, limitsOf } from '../limits.ts';
import {
  createConnections,
  maxPipelined,
  refuseExcess,
  rest,
  rested,
  restSecondsOf,
  serveInTurn,
} from './connection.ts';
import { type Exchange, openExchange } from './exchange.ts';
import { type Logger, loggerOf } from './logger.ts';
import { createSlots, serveExchange } from './serve-exchange.ts';

/**
 * What a request listener is made of.
 *
 * @interface
 */
export type RequestListenerOptions = ServiceOptions &
  Partial<Pick<Limits, 'maxInFlight'>> & {
    /** Where requests are logged, one line each. Default is nowhere. */
    readonly logger?: Logger;
  };

/** Serves one request; `answersContinue` where the `100 Continue` is left to us. */
export type Serve = (
  request: IncomingMessage,
  response: ServerResponse,
  answersContinue: boolean,
) => void;

/** The exchange that a connection is in, or was in last. */
export type CurrentExchange = (socket: Duplex) => Exchange | undefined;

/** Whether a client takes us for a proxy or another protocol, with which this connection would go on. */
const isForAnother = ({ method, url = '', headers }: IncomingMessage): boolean =>
  // After Upgrade, Node loses what has come of the next request.
  headers.upgrade !== undefined || method === 'TRACE' || !url.startsWith('/');

const tooMany = `more than ${maxPipelined} requests of a connection wait for their answers`;

/** The listener, with what a server around it needs to know. */
export const createServe = (
  options: RequestListenerOptions,
  isClosing: () => boolean,
): {
  readonly serve: Serve;
  readonly service: Service;
  readonly currentExchange: CurrentExchange;
  /** Ends the connections that have been without a request for so long, in milliseconds. */
  readonly endIdle: (maxIdleMs: number) => void;
} => {
  const logger = loggerOf(options.logger);
  const service = createService(options);
  const slots = createSlots(limitsOf(options).maxInFlight);
  const connections = createConnections();

  return {
    serve(request, response, answersContinue) {
      const connection = connections.of(request.socket);
      if (connection.open.size > maxPipelined || connection.last < Number.POSITIVE_INFINITY) {
        refuseExcess(connection, request.socket);
        return;
      }
      const isOneTooMany = connection.open.size === maxPipelined;
      connection.count += 1;
      const number = connection.count;
      const exchange = openExchange(request, response, {
        logger,
        headers: service.headersFor(request.rawHeaders),
        isLast: () => isForAnother(request) || (isClosing() && connection.latest === exchange),
        onLast: () => {
          connection.last = Math.min(connection.last, number);
        },
        onOver: () => {
          connection.open.delete(exchange);
          // An idle connection keeps no request, for its head has a token.
          if (connection.latest === exchange && request.complete) connection.latest = undefined;
          if (connection.open.size === 0) connection.idleSince = performance.now();
        },
      });
      connection.latest = exchange;
      connection.open.add(exchange);
      if (request.socket.destroyed) exchange.breakOff();
      void serveInTurn(connection, async () => {
        try {
          if (connection.refusals > 0) await rested(connection, isClosing);
          if (number >= connection.last || request.socket.destroyed) {
            // The client has left, or been told that the connection ends: what follows is not served.
            request.resume();
          } else if (isOneTooMany) {
            exchange.answer(errorAnswer('unavailable', { cause: tooMany }), 'close');
          } else {
            const outcome = await serveExchange(service, slots, exchange, {
              answersContinue,
              retryAfterSeconds: restSecondsOf(connection),
            });
            if (outcome === 'overloaded') rest(connection);
            else connection.refusals = 0;
          }
          exchange.giveUp();
        } catch (cause) {
          exchange.answer(errorAnswer('internal', { cause }), 'close');
        }
      });
    },
    service,
    currentExchange: (socket) => connections.find(socket)?.latest,
    endIdle: (maxIdleMs) => connections.endIdle(maxIdleMs),
  };
};

/**
 * The plant store as a listener for any `node:http` or `node:https` server. Node answers some
 * requests before a listener sees them (HTTP that it cannot parse, `Expect`); `createHttpServer`
 * is a server in which those have their row of the error table too.
 *
 * @throws TypeError for a wrong option
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createMemoryRepository } from '@plantstore/core';
 * import { createRequestListener } from '@plantstore/server';
 *
 * const listener = createRequestListener({
 *   repository: createMemoryRepository(),
 *   authenticate: (token) => token === process.env['PLANT_TOKEN'],
 * });
 * createServer(listener).listen(3000, '127.0.0.1');
 * ```
 */
export const createRequestListener = (options: RequestListenerOptions): RequestListener => {
  const { serve } = createServe(options, () => false);
  return (request, response) => serve(request, response, false);
};
