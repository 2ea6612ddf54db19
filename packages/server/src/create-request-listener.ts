import type { RequestListener } from 'node:http';
import { type Limits, limitsOf } from './limits.ts';
import type { Logger } from './logger.ts';
import { createRequestHandler } from './node/request-handler.ts';
import type { ServiceOptions } from './service-options.ts';

/**
 * What a request listener is made of.
 *
 * @interface
 */
export type RequestListenerOptions = ServiceOptions &
  Partial<Pick<Limits, 'maxInFlight'>> & {
    /** Where requests are logged, one line each. Default is nowhere. */
    readonly logger?: Logger;
    /**
     * Addresses of proxies, and ranges of them in CIDR notation (`10.0.0.0/8`). Where a connection comes from one, the log and
     * the events have the client's address from `Forwarded` or `X-Forwarded-For`. Default is none: they
     * have the connection's.
     */
    readonly trustedProxies?: readonly string[];
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
  const { serve } = createRequestHandler(options, limitsOf(options), () => false);
  return (request, response) => serve(request, response, false);
};
