import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { dropInput, letEndInStages } from './drain.ts';
import type { Exchange } from './exchange.ts';

/** How many requests of one connection may wait for their answers; the next one is told to come again. */
export const maxPipelined = 100;

/** What is going on on a connection. */
export type Connection = {
  latest: Exchange | undefined;
  /** Those whose answers are not sent yet. */
  readonly open: Set<Exchange>;
  /** When the last of them was over, as a time of `performance.now()`. */
  idleSince: number;
  /** How many requests have come. */
  count: number;
  /** The number of the request whose answer says that the connection ends. */
  last: number;
  /** How many requests came after the one that is the last to get a response. */
  excess: number;
  /** How many times in a row it was told to come back later. */
  refusals: number;
  /** Until when its next request is not looked at, as a time of `performance.now()`. */
  restsUntil: number;
  /** What is to be served, one after the other: only safe methods may overlap (RFC 9112 §9.3.2). */
  readonly waiting: (() => Promise<void>)[];
  isServing: boolean;
};

const longestRestSeconds = 8;

/** How long a connection is to stay away that is told so now, in seconds: longer each time in a row. */
export const restSecondsOf = ({ refusals }: Connection): number =>
  Math.min(longestRestSeconds, 2 ** refusals);

/**
 * Has a connection stay away as it is told: otherwise those who come back at once would take the time
 * that is needed for the others.
 */
export const rest = (connection: Connection): void => {
  connection.restsUntil = performance.now() + restSecondsOf(connection) * 1_000;
  connection.refusals += 1;
};

/** Resolves when the connection's next request may be looked at, or soon after there is a hurry. */
export const rested = async ({ restsUntil }: Connection, isHurried: () => boolean) => {
  for (;;) {
    const left = restsUntil - performance.now();
    if (left <= 0 || isHurried()) return;
    await sleep(Math.min(left, 1_000));
  }
};

/** How many requests Node may already have parsed after the last one that gets a response. */
const maxExcess = 300;

/**
 * Ignores a request that comes after the last one to get a response, and has no more of them parsed.
 * Node keeps those that came in the same packet, so a client that sends many is disconnected.
 */
export const refuseExcess = (connection: Connection, socket: Socket): void => {
  if (connection.excess === 0) dropInput(socket);
  connection.excess += 1;
  if (connection.excess > maxExcess) socket.destroy();
};

/** Serves in turn; never rejects as long as what is served does not. */
export const serveInTurn = async (
  connection: Connection,
  serve: () => Promise<void>,
): Promise<void> => {
  connection.waiting.push(serve);
  if (connection.isServing) return;
  connection.isServing = true;
  for (let next = connection.waiting.shift(); next; next = connection.waiting.shift()) await next();
  connection.isServing = false;
};

const open = (socket: Socket): Connection => {
  const connection: Connection = {
    latest: undefined,
    open: new Set(),
    idleSince: performance.now(),
    count: 0,
    last: Number.POSITIVE_INFINITY,
    excess: 0,
    refusals: 0,
    restsUntil: 0,
    waiting: [],
    isServing: false,
  };
  letEndInStages(socket);
  // Node 22 does not tell the responses that wait behind others.
  socket.once('close', () => {
    for (const exchange of connection.open) exchange.breakOff();
  });
  return connection;
};

/** The connections that have brought a request, by their sockets. */
export const createConnections = () => {
  const connections = new Map<Duplex, Connection>();
  return {
    find: (socket: Duplex): Connection | undefined => connections.get(socket),
    of(socket: Socket): Connection {
      const known = connections.get(socket);
      if (known !== undefined) return known;
      const connection = open(socket);
      connections.set(socket, connection);
      socket.once('close', () => connections.delete(socket));
      return connection;
    },
    /** Ends the connections that have been without a request for so long, in milliseconds. */
    endIdle(maxIdleMs: number): void {
      const since = performance.now() - maxIdleMs;
      for (const [socket, connection] of connections) {
        if (connection.open.size === 0 && connection.idleSince < since) socket.destroy();
      }
    },
  };
};
