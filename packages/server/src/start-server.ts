import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import { Server as NetServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { createServerAndHandler, type HttpServerOptions } from './create-http-server.ts';
import { encodePath, normalizeBasePath } from './http/request-path.ts';
import { longestTimerMs } from './limits.ts';
import { type ListenAddress, listenOn } from './node/listen-on.ts';
import { trackConnections, type TrackedConnections } from './node/track-connections.ts';
import { secureOptionsOf, tlsFaultOf, type TlsOptions } from './tls-options.ts';

/**
 * What a running server is made of.
 *
 * @interface
 */
export type StartServerOptions = HttpServerOptions & {
  /** The address to listen on. Default is 127.0.0.1, this machine only. */
  readonly host?: string;
  /** The port to listen on; 0 is any free one. Default is 3000. */
  readonly port?: number;
  /**
   * Shares the port with other processes of the same user that ask for the same; the system spreads new
   * connections over them. Linux and FreeBSD can, Windows and macOS cannot. Default is false: the port
   * is taken by one.
   */
  readonly reusePort?: boolean;
};

/** What became of an exchange of certificates. */
export type RenewedTls =
  | {
      /** New connections have the new certificate. */
      readonly kind: 'renewed';
    }
  | {
      /** New connections still have the old certificate. */
      readonly kind: 'not-renewed';
      /** Why, for the operator. */
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
  /** Where to post plants. */
  readonly url: string;
  /** Returns how many requests are in flight and how many connections are open. */
  readonly usage: () => ServerUsage;
  /** Exchanges the certificate and its key. Connections that are open are not disturbed. */
  readonly renewTls: (tls: TlsOptions) => RenewedTls;
  /**
   * Stops accepting, finishes what is in flight, and says `Connection: close` on every answer.
   * What is not finished after the deadline is cut off. It does not close the repository.
   *
   * @param deadlineMs - in milliseconds; `Infinity` cuts nothing off. Default is 20000 (20 seconds)
   */
  readonly close: (deadlineMs?: number) => Promise<void>;
};

/** What became of a start. */
export type StartedServer =
  | {
      /** The server accepts requests. */
      readonly kind: 'running';
      /** What closes it again. */
      readonly server: RunningServer;
    }
  | {
      /** The address cannot be listened on. */
      readonly kind: 'cannot-listen';
      /** Why, for the operator. */
      readonly message: string;
      /** What Node reported. */
      readonly cause: unknown;
    };

/** A connection without a request may bring one more in this time, in milliseconds. */
const lingerMs = 250;

const closeGracefully = async (
  server: Server,
  connections: TrackedConnections,
  deadlineMs: number,
): Promise<void> => {
  const closed = once(server, 'close');
  // Not the http server's own close: it would reset idle connections on which a request is arriving
  // (nodejs/node#60617).
  NetServer.prototype.close.call(server);
  const givenUp = new AbortController();
  const untilClosed = { signal: givenUp.signal, ref: false };
  const closeIdle = async () => {
    for (;;) {
      await wait(lingerMs, undefined, untilClosed);
      connections.destroyIdle();
      connections.destroySilent();
    }
  };
  const cutOff = async () => {
    await wait(Math.min(deadlineMs, longestTimerMs), undefined, untilClosed);
    connections.destroyAll();
  };
  await Promise.race([closed, Promise.allSettled([closeIdle(), cutOff()])]);
  givenUp.abort();
  server.close();
  // Sockets that were cut off say so a turn after the server, and then their requests are logged.
  await nextTurn();
  await nextTurn();
};

const renewTls = (server: Server, tls: TlsOptions): RenewedTls => {
  if (!(server instanceof TlsServer)) {
    return { kind: 'not-renewed', message: 'the server was started without tls' };
  }
  const fault = tlsFaultOf(tls);
  if (fault !== undefined) {
    return { kind: 'not-renewed', message: `tls.${fault.part} ${fault.why}` };
  }
  server.setSecureContext(secureOptionsOf(tls));
  return { kind: 'renewed' };
};

const largestPort = 65_535;

const checkAddress = ({ host, port, reusePort }: ListenAddress): void => {
  // Node would listen on every address of this machine.
  if (typeof host !== 'string' || host === '') {
    throw new TypeError('host must be a host name or an address');
  }
  if (!Number.isInteger(port) || port < 0 || port > largestPort) {
    throw new TypeError(`port must be a whole number from 0 to ${largestPort}`);
  }
  if (typeof reusePort !== 'boolean') throw new TypeError('reusePort must be true or false');
};

/**
 * Starts an HTTP server for plants, or an HTTPS server where there is `tls`.
 *
 * @returns the running server, or why it cannot listen
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
  const { host = '127.0.0.1', port = 3000, reusePort = false, basePath = '' } = options;
  const address = { host, port, reusePort };
  checkAddress(address);
  const { server, handler } = createServerAndHandler(options);
  const connections = trackConnections(server);
  const listening = await listenOn(server, address);
  if (listening.kind === 'cannot-listen') return listening;
  const scheme = options.tls === undefined ? 'http' : 'https';
  const path = encodePath(`${normalizeBasePath(basePath) ?? ''}/plants`);
  return {
    kind: 'running',
    server: {
      url: `${scheme}://${listening.authority}${path}`,
      usage: () => ({ inFlight: handler.context.inFlight, connections: connections.count() }),
      renewTls: (tls) => renewTls(server, tls),
      close: async (deadlineMs = 20_000) => closeGracefully(server, connections, deadlineMs),
    },
  };
};
