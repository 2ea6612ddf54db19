// Measures the memory of idle keep-alive connections that have each sent one request.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Child } from './child.ts';
import type { Figures } from './rounds.ts';
import { token } from './token.ts';

/** Connections before the first measurement, so that compiled code and the growth of the heap are not counted. */
const warmUpConnections = 1_000;
const connections = 5_000;
const openedAtATime = 50;

/** Opens a connection, sends a plant and waits for the response. */
const openIdle = async (port: number, id: number): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1');
  const body = `{"id":${id},"name":"Monstera","tag":"climber"}`;
  socket.write(
    `POST /plants HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  const [response] = (await once(socket, 'data')) as [Buffer];
  if (!response.toString('latin1').startsWith('HTTP/1.1 200 '))
    throw new Error(`a response was not 200: ${response.toString()}`);
  return socket;
};

const openMany = async (port: number, ids: Iterable<number>): Promise<Socket[]> => {
  const sockets: Socket[] = [];
  const openNext = async () => {
    for (const id of ids) sockets.push(await openIdle(port, id));
  };
  await Promise.all(Array.from({ length: openedAtATime }, openNext));
  return sockets;
};

const range = (from: number, length: number): Iterable<number> =>
  Array.from({ length }, (_, at) => from + at).values();

/** Measures the memory of a server per idle connection, after forced garbage collections. */
export const measureIdle = async (port: number, child: Child): Promise<Figures> => {
  const sockets = await openMany(port, range(1, warmUpConnections));
  const before = await child.usageAfterCollection();
  sockets.push(...(await openMany(port, range(warmUpConnections + 1, connections))));
  const after = await child.usageAfterCollection();
  for (const socket of sockets) socket.destroy();
  return { idleKiB: ((after.residentMiB - before.residentMiB) * 1_024) / connections };
};
