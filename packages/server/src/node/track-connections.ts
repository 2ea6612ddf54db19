import type { Server } from 'node:http';
import type { Server as NetServer, Socket } from 'node:net';
import { isTlsServer } from './builtin-http.ts';

/** The open connections of a server, including those in a TLS handshake. */
export type TrackedConnections = {
  /** Ends the idle connections, except those whose responses are not completely sent. */
  readonly destroyIdle: () => void;
  /** Ends the connections that have sent no bytes of HTTP. Before Node 26, Node does not count them as idle (nodejs/node#63470). */
  readonly destroySilent: () => void;
  readonly destroyAll: () => void;
  readonly count: () => number;
};

/** Identifies a connection, which over TLS has two sockets. */
const addressOf = ({ remoteAddress, remotePort }: Socket): string =>
  `${remoteAddress} ${remotePort}`;

/** Tracks the connections of a server from the moment they are accepted. */
export const trackConnections = (server: Server): TrackedConnections => {
  const net: NetServer = server;
  const sockets = new Set<Socket>();
  /** Connections in a TLS handshake, by address. */
  const handshaking = new Map<string, Socket>();

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
      const address = addressOf(socket);
      handshaking.set(address, socket);
      socket.once('close', () => {
        if (handshaking.get(address) === socket) handshaking.delete(address);
      });
    });
    server.on('secureConnection', (socket) => {
      handshaking.delete(addressOf(socket));
      track(socket);
    });
  } else {
    net.on('connection', track);
  }

  return {
    destroyIdle() {
      // Node counts a connection as idle once its response has ended, even if not all of it is sent. Can be
      // removed once Node checks `writableFinished` instead of `finished` (nodejs/node#43890).
      const sending = [...sockets].filter(({ writableLength }) => writableLength > 0);
      for (const socket of sending) Object.assign(socket, { destroy: () => socket });
      server.closeIdleConnections();
      for (const socket of sending) Reflect.deleteProperty(socket, 'destroy');
    },
    destroySilent() {
      for (const socket of handshaking.values()) socket.destroy();
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    },
    count: () => sockets.size + handshaking.size,
    destroyAll() {
      for (const socket of [...handshaking.values(), ...sockets]) socket.destroy();
    },
  };
};
