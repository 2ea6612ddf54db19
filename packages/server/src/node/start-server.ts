import type { Server } from 'node:http';
import { err, ok, type Result } from 'neverthrow';
import { encodePath } from '../http/request-head.ts';
import { pathOfPlants } from '../http/operations.ts';
import { isTlsServer } from './builtin-http.ts';
import { createServerParts, type HttpServerOptions } from './create-http-server.ts';
import { type CannotListen, listenOn, type ListenOptions } from './listen-on.ts';
import { secureOptionsOf, type TlsFault, tlsFaultOf, type TlsOptions } from './tls-options.ts';

/**
 * Starts an HTTP server for plants, or an HTTPS server if there is `tls`.
 *
 * @returns the running server, or the reason why it cannot listen
 * @throws TypeError for a wrong option
 * @example
 * ```ts
 * import { createMemoryRepository } from '@plantstore/core';
 * import { startServer } from '@plantstore/server';
 *
 * const started = await startServer({
 *   repository: createMemoryRepository(),
 *   authenticate: (token) => token === process.env['PLANT_TOKEN'],
 *   port: 0,
 * });
 * if (started.isErr()) throw new Error(started.error.message);
 * console.log(`POST ${started.value.url}`);
 * await started.value.close();
 * ```
 */
export async function startServer(options: StartServerOptions): Promise<StartedServer> {
  const { server, shared, connections } = createServerParts(options);
  const listening = await listenOn(server, options);
  if (listening.isErr()) return err(listening.error);
  const { host, authority } = listening.value;
  const scheme = options.tls === undefined ? 'http' : 'https';
  return ok({
    url: `${scheme}://${authority}${encodePath(pathOfPlants(options))}`,
    host,
    usage: () => ({
      inFlight: shared.inFlight,
      connections: connections.count,
      cut: shared.cut ?? 0,
    }),
    renewTls: (tls) => renewTls(server, tls),
    close: async (deadlineMs = 20_000) =>
      connections.stop(deadlineMs, () => {
        shared.cut = 0;
      }),
  });
}

/**
 * The options of a running server.
 *
 * @interface
 */
export type StartServerOptions = HttpServerOptions & ListenOptions;

/** What a server is doing at the moment, for metrics. */
export type ServerUsage = {
  /** Requests in flight: admitted, and without a result. At most `maxInFlight`. */
  readonly inFlight: number;
  /** Open connections, those in a TLS handshake included. At most `maxConnections`. */
  readonly connections: number;
  /** Requests without a complete response, because the deadline of `close` has ended them. */
  readonly cut: number;
};

/** A server that accepts requests. */
export type RunningServer = {
  /** The URL of the operation `POST {base_url}/plants`. */
  readonly url: string;
  /** The IP address on which it listens, such as `0.0.0.0`. */
  readonly host: string;
  /** Returns how many requests are in flight and how many connections are open. */
  readonly usage: () => ServerUsage;
  /**
   * Replaces the certificate and its key for new connections, unless they are invalid. Open
   * connections are kept.
   *
   * @throws TypeError if the server was started without `tls`
   */
  readonly renewTls: (tls: TlsOptions) => Result<void, TlsFault>;
  /**
   * Closes gracefully: stops accepting connections, and completes the requests in flight with
   * `Connection: close`. Cuts those that are not complete at the deadline (`usage().cut`).
   * Does not close the repository.
   *
   * @param deadlineMs - in milliseconds; `Infinity` is no deadline. Default: 20000 (20 seconds)
   */
  readonly close: (deadlineMs?: number) => Promise<void>;
};

/** A running server, or why it cannot listen. @inline */
export type StartedServer = Result<RunningServer, CannotListen>;

function renewTls(server: Server, tls: TlsOptions): Result<void, TlsFault> {
  if (!isTlsServer(server)) throw new TypeError('the server was started without tls');
  const fault = tlsFaultOf(tls);
  return fault === undefined ? ok(server.setSecureContext(secureOptionsOf(tls))) : err(fault);
}
