import type { Server } from 'node:http';
import { err, ok, type Result } from 'neverthrow';
import { encodePath } from '../http/request-head.ts';
import { pathOfPlants } from '../http/operations.ts';
import { isTlsServer } from './builtin-http.ts';
import { createServerParts, type HttpServerOptions } from './create-http-server.ts';
import { type CannotListen, listenOn, type ListenOptions } from './listen-on.ts';
import { secureOptionsOf, tlsFaultOf, type TlsOptions } from './tls-options.ts';

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

/** The result of a renewal of the certificate. */
export type RenewedTls =
  | {
      /** New connections use the new certificate. */
      readonly kind: 'renewed';
    }
  | {
      /** New connections use the old certificate. */
      readonly kind: 'not-renewed';
      /** The reason, for the operator. */
      readonly message: string;
    };

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
  /** Replaces the certificate and its key for new connections. Open connections are kept. */
  readonly renewTls: (tls: TlsOptions) => RenewedTls;
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

function renewTls(server: Server, tls: TlsOptions): RenewedTls {
  const kind = 'not-renewed';
  if (!isTlsServer(server)) return { kind, message: 'the server was started without tls' };
  const fault = tlsFaultOf(tls);
  if (fault !== undefined) return { kind, message: `tls.${fault.part} ${fault.why}` };
  server.setSecureContext(secureOptionsOf(tls));
  return { kind: 'renewed' };
}
