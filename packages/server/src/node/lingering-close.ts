import type { Socket } from 'node:net';
import type { Duplex, Readable } from 'node:stream';

/** How much unwanted input is read before a close, in bytes. */
const maxDrainBytes = 64 * 1024 * 1024;

/**
 * Reads and drops input until it ends or a bound is reached, and calls back then. Closing a socket with
 * unread data resets the connection, and the client loses the response (RFC 9112 §9.6).
 */
export const drain = (source: Readable, maxMs: number, onDone: () => void): void => {
  let dropped = 0;
  let isDone = false;
  const timer = setTimeout(finish, maxMs);
  function finish() {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    source.off('data', onData);
    onDone();
  }
  function onData(chunk: Buffer) {
    dropped += chunk.length;
    if (dropped > maxDrainBytes) finish();
  }
  source.on('data', onData);
  source.once('end', finish);
  source.once('close', finish);
  if (source.destroyed || source.readableEnded) finish();
  else source.resume();
};

const ignore = (): void => {};

/** Drops everything that a connection still sends, so that no further request is parsed and kept. */
export const dropInput = (socket: Duplex): void => {
  // With a listener, Node passes the bytes through the stream and no longer straight to its parser.
  socket.on('data', ignore);
  socket.removeAllListeners('data');
  socket.on('data', ignore);
};

/** For how long input is still dropped once the last response is written, in milliseconds. */
const lingerMs = 500;

/**
 * Writes the last bytes and closes our side at once, the other one when the client closes it or a bound
 * is reached. The client can read the response even though it has sent more than was wanted.
 */
export const closeLingering = (
  socket: Duplex,
  lastBytes = '',
  onEnded: (isWritten: boolean) => void = ignore,
): void => {
  let pending = 2;
  const settle = () => {
    pending -= 1;
    if (pending === 0) socket.destroy();
  };
  let isEnded = false;
  const end = (isWritten: boolean) => {
    if (isEnded) return;
    isEnded = true;
    onEnded(isWritten);
    settle();
  };
  socket.once('close', () => end(false));
  socket.end(lastBytes, (error?: Error | null) => end(!error));
  dropInput(socket);
  drain(socket, lingerMs, settle);
};

/**
 * Makes Node close a connection in this way, too, after the last response on it. It can go when Node's
 * own close lets the client read that response (nodejs/node#21026, nodejs/node#36205).
 */
export const lingerOnClose = (socket: Socket): void => {
  Object.assign(socket, { destroySoon: () => closeLingering(socket) });
};
