import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isTlsServer } from './builtin-http.ts';

/** The open connections of a server, from the moment they are accepted: counts and closes them. */
export class OpenConnections {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  /** Connections in a TLS handshake, by address: a connection over TLS has two sockets. */
  private readonly handshaking = new Map<string, Socket>();

  constructor(server: Server) {
    this.server = server;
    const net: NetServer = server;
    const { sockets, handshaking } = this;

    // One listener for all sockets, because each idle connection would keep its own in memory.
    function forget(this: Socket): void {
      sockets.delete(this);
    }
    const track = (socket: Socket) => {
      sockets.add(socket);
      socket.on('close', forget);
    };

    if (isTlsServer(server)) {
      net.on('connection', (socket) => {
        const address = endpointOf(socket);
        handshaking.set(address, socket);
        socket.once('close', () => {
          if (handshaking.get(address) === socket) handshaking.delete(address);
        });
      });
      server.on('secureConnection', (socket) => {
        handshaking.delete(endpointOf(socket));
        track(socket);
      });
    } else net.on('connection', track);
  }

  /** Number of open connections, those in a TLS handshake included. */
  get count(): number {
    return this.sockets.size + this.handshaking.size;
  }

  /**
   * Stops accepting connections, closes each one when it is idle, and all of them at the deadline.
   * Resolves once the server is closed.
   *
   * @param deadlineMs - in milliseconds; `Infinity` is no deadline
   * @param onDeadline - called before the connections that are still open are destroyed
   */
  async close(deadlineMs: number, onDeadline: () => void): Promise<void> {
    const { server } = this;
    const closed = once(server, 'close');
    // Not the close() of the HTTP server, which resets idle connections on which a request is
    // arriving (nodejs/node#60617).
    NetServer.prototype.close.call(server);
    // After a turn, so that what has arrived meanwhile is read first, however late this process is.
    const idle = setInterval(() => setImmediate(() => this.destroyIdle()), idleGraceMs).unref();
    const deadline = setTimeout(
      () => {
        onDeadline();
        for (const socket of [...this.handshaking.values(), ...this.sockets]) socket.destroy();
      },
      Math.min(deadlineMs, longestTimerMs),
    ).unref();
    await closed;
    clearInterval(idle);
    clearTimeout(deadline);
    server.close();
    // Destroyed sockets emit 'close' a turn after the server, and then their requests are logged.
    await nextTurn();
    await nextTurn();
  }

  private destroyIdle(): void {
    // Node counts a connection as idle once its response has ended, even if not all of it is sent.
    // Can be removed once Node checks `writableFinished` instead of `finished` (nodejs/node#43890).
    const sending = [...this.sockets].filter(({ writableLength }) => writableLength > 0);
    for (const socket of sending) Object.assign(socket, { destroy: () => socket });
    this.server.closeIdleConnections();
    for (const socket of sending) Reflect.deleteProperty(socket, 'destroy');
    // Before Node 26, a connection without bytes of HTTP is not idle (nodejs/node#63470).
    for (const socket of this.handshaking.values()) socket.destroy();
    for (const socket of this.sockets) if (socket.bytesRead === 0) socket.destroy();
  }
}

/** Time for which an idle connection may still send a request, in milliseconds. */
const idleGraceMs = 250;

/** Maximum delay of a timer, in milliseconds (24 days). Node replaces a longer one by 1 ms. */
const longestTimerMs = 2 ** 31 - 1;

/** Identifies a connection. */
function endpointOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
