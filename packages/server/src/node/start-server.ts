import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { operation } from '@plantstore/core/wire';
import { isTlsServer } from './builtin-http.ts';
import { assembleServer, type HttpServerOptions } from './create-http-server.ts';
import { encodePath, normalizeBasePath } from '../http/request-path.ts';
import { longestTimerMs } from '../http/limits.ts';
import { optionRules } from './option-rules.ts';
import { type ListenAddress, type ListenSocket, listenOn } from './listen-on.ts';
import type { TrackedConnections } from './track-connections.ts';
import { secureOptionsOf, tlsFaultOf, type TlsOptions } from './tls-options.ts';

/**
 * The options of a running server.
 *
 * @interface
 */
export type StartServerOptions = HttpServerOptions & {
  /** Host name or address to listen on. Default: 127.0.0.1 (loopback). */
  readonly host?: string;
  /** Port to listen on; 0 is any free port. Default: 3000. */
  readonly port?: number;
  /**
   * Shares the port with other processes of the same user that set it, too; the system distributes new
   * connections among them. Works on Linux and FreeBSD, not on Windows and macOS. Default: false.
   */
  readonly reusePort?: boolean;
  /**
   * File descriptor of a listening TCP socket, such as one that systemd hands over. The server accepts its
   * connections, and ignores `host`, `port` and `reusePort`. Default: none.
   */
  readonly fd?: number;
};

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
   * `Connection: close`. Aborts those that are not complete at the deadline. Does not close the repository.
   *
   * @param deadlineMs - in milliseconds; `Infinity` is no deadline. Default: 20000 (20 seconds)
   */
  readonly close: (deadlineMs?: number) => Promise<void>;
};

/** The result of a start. */
export type StartedServer =
  | {
      /** The server accepts requests. */
      readonly kind: 'running';
      /** The running server. */
      readonly server: RunningServer;
    }
  | {
      /** The server cannot listen on the address or the socket. */
      readonly kind: 'cannot-listen';
      /** The reason, for the operator. */
      readonly message: string;
      /** The error that Node reported. */
      readonly cause: unknown;
    };

/** Time for which an idle connection may still send a request, in milliseconds. */
const idleGraceMs = 250;

const closeGracefully = async (
  server: Server,
  connections: TrackedConnections,
  deadlineMs: number,
): Promise<void> => {
  const closed = once(server, 'close');
  // Not the close() of the HTTP server, which resets idle connections on which a request is arriving
  // (nodejs/node#60617).
  NetServer.prototype.close.call(server);
  const finished = new AbortController();
  const untilClosed = { signal: finished.signal, ref: false };
  const closeIdle = async () => {
    for (;;) {
      await wait(idleGraceMs, undefined, untilClosed);
      // What has arrived meanwhile is read first, however late this process is.
      await nextTurn();
      connections.destroyIdle();
      connections.destroySilent();
    }
  };
  const abortAtDeadline = async () => {
    await wait(Math.min(deadlineMs, longestTimerMs), undefined, untilClosed);
    connections.destroyAll();
  };
  await Promise.race([closed, Promise.allSettled([closeIdle(), abortAtDeadline()])]);
  finished.abort();
  server.close();
  // Destroyed sockets emit 'close' a turn after the server, and then their requests are logged.
  await nextTurn();
  await nextTurn();
};

const renewTls = (server: Server, tls: TlsOptions): RenewedTls => {
  if (!isTlsServer(server)) {
    return { kind: 'not-renewed', message: 'the server was started without tls' };
  }
  const fault = tlsFaultOf(tls);
  if (fault !== undefined) {
    return { kind: 'not-renewed', message: `tls.${fault.part} ${fault.why}` };
  }
  server.setSecureContext(secureOptionsOf(tls));
  return { kind: 'renewed' };
};

const targetOf = ({
  host = optionRules.host.default,
  port = optionRules.port.default,
  reusePort = optionRules.reusePort.default,
  fd,
}: StartServerOptions): ListenAddress | ListenSocket =>
  fd === undefined ? { host, port, reusePort } : { fd };

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
 * if (started.kind === 'cannot-listen') throw new Error(started.message);
 * console.log(`POST ${started.server.url}`);
 * await started.server.close();
 * ```
 */
export const startServer = async (options: StartServerOptions): Promise<StartedServer> => {
  const { basePath = '' } = options;
  const { server, context, connections } = assembleServer(options);
  const listening = await listenOn(server, targetOf(options));
  if (listening.kind === 'cannot-listen') return listening;
  const scheme = options.tls === undefined ? 'http' : 'https';
  const path = encodePath(`${normalizeBasePath(basePath) ?? ''}${operation.path}`);
  return {
    kind: 'running',
    server: {
      url: `${scheme}://${listening.authority}${path}`,
      host: listening.host,
      usage: () => ({ inFlight: context.inFlight, connections: connections.count() }),
      renewTls: (tls) => renewTls(server, tls),
      close: async (deadlineMs = 20_000) => closeGracefully(server, connections, deadlineMs),
    },
  };
};
