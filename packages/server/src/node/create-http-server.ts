import type { Server } from 'node:http';
import type { RequestListenerOptions } from './create-request-listener.ts';
import type { Limits } from '../http/limits.ts';
import { assembleServer } from './assemble-server.ts';
import type { TlsOptions } from './tls-options.ts';

/**
 * The options of an HTTP server for plants.
 *
 * @interface
 */
export type HttpServerOptions = RequestListenerOptions &
  Partial<
    Pick<Limits, 'maxConnections' | 'headersTimeoutMs' | 'requestTimeoutMs' | 'keepAliveTimeoutMs'>
  > & {
    /** Serves HTTPS, with TLS 1.2 or newer. Default is HTTP. */
    readonly tls?: TlsOptions;
  };

/**
 * Creates a `node:http` server, or a `node:https` server if there is `tls`. It does not listen yet. Every
 * error is answered by the error table, including those that Node answers by default: parse errors,
 * timeouts, `Expect` and `CONNECT`. After `close()`, every answer has `Connection: close`.
 *
 * @throws TypeError for a wrong option
 * @example
 * ```ts
 * import { createMemoryRepository } from '@plantstore/core';
 * import { createHttpServer } from '@plantstore/server';
 *
 * const server = createHttpServer({
 *   repository: createMemoryRepository(),
 *   authenticate: (token) => token === process.env['PLANT_TOKEN'],
 * });
 * server.listen(3000, '127.0.0.1');
 * ```
 */
export const createHttpServer = (options: HttpServerOptions): Server =>
  assembleServer(options).server;
