import type { RequestListener } from 'node:http';
import { type Limits, limitsOf } from '../http/limits.ts';
import type { Logger } from '../http/logger.ts';
import { createRequestHandler } from './request-handler.ts';
import type { ServiceOptions } from '../http/service-options.ts';

/**
 * The options of a request listener.
 *
 * @interface
 */
export type RequestListenerOptions = ServiceOptions &
  Partial<Pick<Limits, 'maxInFlight'>> & {
    /** Logs each request in one line. Default is no log. */
    readonly logger?: Logger;
    /**
     * Addresses of proxies, and ranges of them in CIDR notation (`10.0.0.0/8`). If a connection comes from one, the log and
     * the events have the client's address from `X-Forwarded-For`. Default is none: they have the connection's.
     */
    readonly trustedProxies?: readonly string[];
  };

/**
 * Creates the plant store as a `'request'` listener for any `node:http` or `node:https` server. Node
 * answers some requests without calling the listener, such as parse errors and `Expect`. A server of
 * `createHttpServer` answers those by the error table, too.
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
  const { serve } = createRequestHandler(options, limitsOf(options), () => false);
  return (request, response) => serve(request, response, false);
};
