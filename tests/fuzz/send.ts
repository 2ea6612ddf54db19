import { connect, type Socket } from 'node:net';
import type { Client } from './grammar.ts';

/** Timeout of a connection, in milliseconds. Every response is faster. */
const hangMs = 60_000;

const opened = async (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
  });

const write = async (socket: Socket, piece: Buffer): Promise<void> =>
  new Promise((resolve) => {
    if (socket.writable) socket.write(piece, () => setImmediate(resolve));
    else resolve();
  });

const finish = (socket: Socket, ending: Client['ending']): void => {
  switch (ending) {
    case 'end':
      socket.end();
      break;
    case 'reset':
      socket.resetAndDestroy();
      break;
    case 'destroy':
      socket.destroy();
      break;
    case 'wait':
      break;
  }
};

/** Runs a client. Resolves with the received bytes, and whether the connection timed out. */
export const send = async (
  port: number,
  { bytes, cuts, ending }: Client,
): Promise<{ readonly received: string; readonly hung: boolean }> => {
  const socket = await opened(port);
  let received = '';
  const ended = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => ended.resolve(true), hangMs);
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => (received += text));
  socket.on('end', () => ended.resolve(false));
  socket.on('close', () => ended.resolve(false));
  socket.on('error', () => {});
  const ends = [...cuts, bytes.length].toSorted((one, another) => one - another);
  let start = 0;
  for (const end of ends) {
    if (end > start) await write(socket, bytes.subarray(start, end));
    start = end;
  }
  finish(socket, ending);
  const hung = await ended.promise;
  clearTimeout(timer);
  socket.destroy();
  return { received, hung };
};
