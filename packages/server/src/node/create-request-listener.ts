import type { RequestListener } from 'node:http';
import { limitsOf } from '../http/limits.ts';
import { createRequestHandler, type RequestListenerOptions } from './request-handler.ts';

/**
 * Creates the plant store as a `'request'` listener for any `node:http` or `node:https` server. Node
 * responds to some requests without calling the listener, such as parse errors and `Expect`. A server of
 * `createHttpServer` responds to those from the error table, too.
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
