import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { encodePath, normalizeBasePath } from '../http/request-path.ts';
import { createHttpServer, type HttpServerOptions } from '../node/http-server.ts';

/** What a running server is made of. */
export type StartServerOptions = HttpServerOptions & {
  /** The address to listen on. Default is 127.0.0.1, this machine only. */
  readonly host?: string;
  /** The port to listen on; 0 is any free one. Default is 3000. */
  readonly port?: number;
};

/** A server that accepts requests. */
export type RunningServer = {
  /** Where to post plants. */
  readonly url: string;
  /**
   * Stops accepting, finishes what is in flight, and says `Connection: close` on every answer.
   * What is not finished after the deadline is cut off. It does not close the repository.
   *
   * @param deadlineMs - in milliseconds. Default is 10000 (10 seconds)
   */
  readonly close: (deadlineMs?: number) => Promise<void>;
};

/** The server runs, or cannot listen; `message` says why. */
export type StartedServer =
  | { readonly kind: 'running'; readonly server: RunningServer }
  | { readonly kind: 'cannot-listen'; readonly message: string; readonly cause: unknown };

/** A connection without a request may bring one more in this time, in milliseconds. */
const lingerMs = 250;

/** The connections of a server that have not brought a byte; Node does not count them as idle. */
const trackSilent = (server: Server): { readonly destroySilent: () => void } => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    destroySilent() {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    },
  };
};

const closeGracefully = async (
  server: Server,
  destroySilent: () => void,
  deadlineMs: number,
): Promise<void> => {
  const closed = once(server, 'close');
  // Not the http server's own close: it would reset idle connections on which a request is coming.
  NetServer.prototype.close.call(server);
  const givenUp = new AbortController();
  const untilClosed = { signal: givenUp.signal, ref: false };
  const closeIdle = async () => {
    for (;;) {
      await wait(lingerMs, undefined, untilClosed);
      server.closeIdleConnections();
      destroySilent();
    }
  };
  const cutOff = async () => {
    await wait(deadlineMs, undefined, untilClosed);
    server.closeAllConnections();
  };
  await Promise.race([closed, Promise.allSettled([closeIdle(), cutOff()])]);
  givenUp.abort();
  server.close();
};

const listenFaults = new Map([
  ['EADDRINUSE', 'is taken by another process; choose another port'],
  ['EACCES', 'may not be listened on by this user; choose a port from 1024'],
  ['EADDRNOTAVAIL', 'is no address of this machine; choose another host'],
  ['ENOTFOUND', 'is no known host name; choose another host'],
]);

const cannotListen = (place: string, thrown: unknown): StartedServer => {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  const why = listenFaults.get(code) ?? `cannot be listened on (${code})`;
  return { kind: 'cannot-listen', message: `${place} ${why}`, cause: thrown };
};

const inUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** The address under which this machine reaches what listens on every address. */
const reachable = (address: string): string =>
  ({ '0.0.0.0': '127.0.0.1', '::': '::1' })[address] ?? address;

/**
 * Starts an HTTP server for plants.
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
  const { host = '127.0.0.1', port = 3000, basePath = '' } = options;
  const server = createHttpServer(options);
  const { destroySilent } = trackSilent(server);
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (thrown) {
    return cannotListen(`${inUrl(host)}:${port}`, thrown);
  }
  const { address, port: actualPort } = server.address() as AddressInfo;
  const origin = `http://${inUrl(reachable(address))}:${actualPort}`;
  const path = encodePath(`${normalizeBasePath(basePath) ?? ''}/plants`);
  return {
    kind: 'running',
    server: {
      url: origin + path,
      close: async (deadlineMs = 10_000) => closeGracefully(server, destroySilent, deadlineMs),
    },
  };
};
