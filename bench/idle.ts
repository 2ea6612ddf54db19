// Measures the memory of idle keep-alive connections that have each sent one request.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { devNull } from 'node:os';
import { baseline, fastifyInMemory, wholeServer } from './contenders.ts';
import type { Part } from './results.ts';
import { type Figures, runRounds } from './rounds.ts';
import { type Server, withServer } from './server.ts';
import { installPeers } from './servers.ts';
import { token } from './token.ts';

/** Connections before the first measurement, so that compiled code is not counted. */
const warmUpConnections = 1_000;
const connections = 5_000;
/** Otherwise the young generation, which grows with the requests so far, takes more than the connections. */
const fixedHeap = { NODE_OPTIONS: '--max-semi-space-size=1' };
const openedAtATime = 50;

const sendPlant = async (socket: Socket, port: number): Promise<void> => {
  const body = '{"id":1,"name":"Monstera","tag":"climber"}';
  socket.write(
    `POST /plants HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  const [response] = (await once(socket, 'data')) as [Buffer];
  if (!response.toString('latin1').startsWith('HTTP/1.1 200 '))
    throw new Error(`a response was not 200: ${response.toString()}`);
};

/** Opens connections, and sends the same plant on each. */
const openMany = async (port: number, count: number): Promise<Socket[]> => {
  const sockets: Socket[] = [];
  const openNext = async () => {
    while (sockets.length < count) {
      const socket = connect(port, '127.0.0.1');
      sockets.push(socket);
      await sendPlant(socket, port);
    }
  };
  await Promise.all(Array.from({ length: openedAtATime }, openNext));
  return sockets;
};

/** Measures the memory of a server per idle connection, after forced garbage collections. */
const measureIdle = async (server: Server): Promise<Figures> => {
  const program = async (port: number) => {
    const { env, ...rest } = await server.program(port);
    return { ...rest, env: { ...env, ...fixedHeap } };
  };
  return withServer({ ...server, program }, async (port, child) => {
    const sockets = await openMany(port, warmUpConnections);
    const before = await child.usageAfterCollection();
    sockets.push(...(await openMany(port, connections)));
    const after = await child.usageAfterCollection();
    for (const socket of sockets) socket.resetAndDestroy();
    return { idleKiB: ((after.residentMiB - before.residentMiB) * 1_024) / connections };
  });
};

/** Measures servers in memory, because a store would add its own memory. */
export const compareIdle = async (rounds: number): Promise<Part> => {
  await installPeers();
  const servers: readonly Server[] = [
    baseline,
    {
      name: 'plantstore-server, in memory',
      ids: 'random',
      program: (port) => wholeServer(port, 'memory:', devNull),
    },
    fastifyInMemory,
  ];
  const [bare, ...others] = servers.map((server) => ({
    name: server.name,
    measure: async () => measureIdle(server),
  }));
  if (bare === undefined) throw new Error('no baseline');
  return { rounds, baseline: bare.name, rows: await runRounds(bare, others, { rounds }) };
};
