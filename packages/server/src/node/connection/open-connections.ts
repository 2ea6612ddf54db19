import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import type { RequestSource } from '../../http/request-record.ts';
import { isTlsServer } from '../builtin-http.ts';
import { end } from './endings.ts';

/** The open connections of a server, from the moment they are accepted: counts and closes them. */
export class OpenConnections {
  readonly #server: Server;
  /** One for each connection. */
  readonly #sockets = new Set<Socket>();
  /** One more for each connection over TLS, after its handshake. */
  readonly #secure = new Set<Socket>();

  constructor(server: Server, source: RequestSource) {
    this.#server = server;
    const net: NetServer = server;
    const [sockets, secure] = [this.#sockets, this.#secure];
    keepHalfOpen(server);
    net.on('connection', (socket) => {
      // Node keeps it, for the log of a failed handshake: a lost connection has no address.
      endpointOf(socket);
      track(socket, sockets);
    });
    net.on('secureConnection', (socket: Socket) => track(socket, secure));
    if (isTlsServer(server)) endFailedHandshakes(server, source);

    function track(socket: Socket, open: Set<Socket>): void {
      open.add(socket);
      socket.on('close', forget);
    }
    // One listener for all sockets, because each idle connection would keep its own in memory.
    function forget(this: Socket): void {
      if (!sockets.delete(this)) secure.delete(this);
    }
  }

  /** Number of open connections, those in a TLS handshake included. */
  get count(): number {
    return this.#sockets.size;
  }

  /**
   * Stops accepting connections, ends each one when it is idle, and all of them at the deadline.
   * Resolves once the server is closed.
   *
   * @param deadlineMs - in milliseconds; `Infinity` is no deadline
   * @param onDeadline - called before the connections that are still open are destroyed
   */
  async stop(deadlineMs: number, onDeadline?: () => void): Promise<void> {
    const server = this.#server;
    const closed = once(server, 'close');
    // Not the close() of the HTTP server, which resets idle connections on which a request is
    // arriving (nodejs/node#60617).
    NetServer.prototype.close.call(server);
    // After a turn, so that what has arrived meanwhile is read first, however late this process is.
    const idle = setInterval(() => setImmediate(() => this.#endIdle()), idleGraceMs).unref();
    const maxMs = Math.min(deadlineMs, longestTimerMs);
    const deadline = setTimeout(() => {
      onDeadline?.();
      this.#endAll();
    }, maxMs).unref();
    await closed;
    clearInterval(idle);
    clearTimeout(deadline);
    server.close();
    // Destroyed sockets emit 'close' a turn after the server, and then their requests are logged.
    await nextTurn();
    await nextTurn();
  }

  #endAll(): void {
    for (const socket of [...this.#secure, ...this.#sockets]) end(socket, 'deadline of a stop');
  }

  #endIdle(): void {
    const served = [...(isTlsServer(this.#server) ? this.#secure : this.#sockets)];
    // Node counts a connection as idle once its response has ended, even if not all of it is sent.
    // Can be removed once Node checks `writableFinished` instead of `finished` (nodejs/node#43890).
    const sending = served.filter(({ writableLength }) => writableLength > 0);
    for (const socket of sending) Object.assign(socket, { destroy: () => socket });
    this.#server.closeIdleConnections();
    for (const socket of sending) Reflect.deleteProperty(socket, 'destroy');
    // Before Node 26, a connection without bytes of HTTP is not idle (nodejs/node#63470).
    const silent = served.filter(({ bytesRead }) => bytesRead === 0);
    const secured = new Set(served.map(endpointOf));
    const handshaking = [...this.#sockets].filter((socket) => !secured.has(endpointOf(socket)));
    for (const socket of [...handshaking, ...silent]) end(socket, 'idle at a stop');
  }
}

/** Time for which an idle connection may still send a request, in milliseconds. */
const idleGraceMs = 250;

/** Maximum delay of a timer, in milliseconds (24 days). Node replaces a longer one by 1 ms. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * Responds to a client that half-closes its connection, too, and to pipelined requests over TLS.
 */
function keepHalfOpen(server: Server): void {
  // The property is undocumented; Node keeps it for compatibility (nodejs/node#36819).
  Object.assign(server, { httpAllowHalfOpen: true });
  // Not an option of the server, which would keep connections that are closed in their handshake.
  server.on('secureConnection', (socket: TLSSocket) => {
    Object.assign(socket, { allowHalfOpen: true });
    // Makes Node parse what the stream passes on. TLS passes on what it has decrypted, even to a
    // parser that Node has paused until responses are sent, which is an error (HPE_PAUSED, as in
    // nodejs/node#3332).
    socket.on('data', () => {});
  });
}

/** Ends connections whose TLS handshake has failed without a response, and logs them at `info`. */
function endFailedHandshakes(server: Server, { logger, clientAddressOf }: RequestSource): void {
  // Before Node's own listener, which would emit 'clientError'.
  server.prependListener('tlsClientError', ({ code }: NodeJS.ErrnoException, socket: TLSSocket) => {
    // The socket below, an undocumented property, still has the address of a lost connection.
    const { _parent: below = socket } = socket as { readonly _parent?: Socket };
    const client = clientAddressOf(below.remoteAddress);
    end(socket, 'no handshake');
    logger.info({ code, ...(client !== undefined && { client }) }, 'no TLS handshake');
  });
}

/** Identifies a connection. */
function endpointOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
