import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Server as NetServer, Socket } from 'node:net';

/** The connections of a server, those included that Node does not count yet. */
export type TrackedConnections = {
  /** Ends the connections that wait for a request, but not before their answers are sent. */
  readonly destroyIdle: () => void;
  /** Ends the connections without a byte of HTTP; before Node 26, they are not idle (nodejs/node#63470). */
  readonly destroySilent: () => void;
  readonly destroyAll: () => void;
  readonly count: () => number;
};

/** Over TLS, the same connection is two sockets. */
const placeOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/** Follows the connections of a server from their first moment, a TLS handshake's included. */
export const trackConnections = (server: Server): TrackedConnections => {
  const net: NetServer = server;
  const sockets = new Set<Socket>();
  /** By place: the connections whose handshake is not over. */
  const handshaking = new Map<string, Socket>();

  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  };

  if (server instanceof TlsServer) {
    net.on('connection', (socket) => {
      const place = placeOf(socket);
      handshaking.set(place, socket);
      socket.once('close', () => {
        if (handshaking.get(place) === socket) handshaking.delete(place);
      });
    });
    server.on('secureConnection', (socket) => {
      handshaking.delete(placeOf(socket));
      track(socket);
    });
  } else {
    net.on('connection', track);
  }

  return {
    destroyIdle() {
      // Node counts a connection as idle once its response has ended, though not all of it is sent. This
      // can go when Node checks `writableFinished` instead of `finished` (nodejs/node#43890).
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
