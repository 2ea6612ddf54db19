import type { Duplex, Readable } from 'node:stream';

/** Maximum number of bytes of unwanted input that are read before a close. */
const maxDrainBytes = 64 * 1024 * 1024;

/**
 * Reads and drops input, and calls `onDone` once it ends or a limit is reached, or the returned function is called.
 * Closing a socket with unread data resets the connection, and the client loses the response (RFC 9112 §9.6).
 */
export const drain = (source: Readable, maxMs: number, onDone: () => void): (() => void) => {
  let dropped = 0;
  let isDone = false;
  const timer = setTimeout(finish, maxMs);
  function finish() {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    onDone();
  }
  source.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > maxDrainBytes) finish();
  });
  // A simulated request has no close.
  source.once('end', finish);
  source.once('close', finish);
  if (source.destroyed || source.readableEnded) finish();
  else source.resume();
  return finish;
};

const ignore = (): void => {};

/** Drops all further input of a connection, so that no further request is parsed and kept. */
export const dropInput = (socket: Duplex): void => {
  socket.removeAllListeners('data');
  // With a 'data' listener, Node passes bytes to the stream instead of to its parser.
  socket.on('data', ignore);
};

/** Time for which input is dropped after the last response is written, in milliseconds. */
const lingerMs = 500;

/**
 * Writes the last bytes and half-closes the connection, then destroys it once the client closes its side
 * or a limit is reached. The client can read the response even though it has sent unwanted bytes.
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

/** One function for all sockets, because each idle connection would keep its own in memory. */
function destroySoon(this: Duplex): void {
  closeLingering(this);
}

/**
 * Makes Node close a connection in the same way after its last response. Can be removed once Node does
 * so by default (nodejs/node#21026, nodejs/node#36205).
 */
export const lingerOnClose = (socket: Duplex): void => {
  Object.assign(socket, { destroySoon });
};
