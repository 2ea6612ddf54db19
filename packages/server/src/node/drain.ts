import { type Duplex, finished, type Readable } from 'node:stream';

/**
 * Makes Node close a connection as {@link closeSlowly} does after its last response. Can be removed
 * once Node does so by default (nodejs/node#21026, nodejs/node#36205).
 */
export function closeSlowlyByDefault(socket: Duplex): void {
  Object.assign(socket, { destroySoon });
}

/** One function for all sockets, because each idle connection would keep its own in memory. */
function destroySoon(this: Duplex): void {
  closeSlowly(this);
}

/**
 * Writes the last bytes and half-closes the connection, then destroys it once the client closes its side
 * or a limit is reached. The client can read the response even though it has sent unwanted bytes.
 *
 * @param onEnded - called once, when the bytes are written or the connection is lost
 */
export function closeSlowly(
  socket: Duplex,
  lastBytes = '',
  onEnded: (isWritten: boolean) => void = ignore,
): void {
  let pending = 2;
  const settle = () => {
    pending -= 1;
    if (pending === 0) socket.destroy();
  };
  finished(socket, { readable: false }, (error) => {
    onEnded(!error);
    settle();
  });
  socket.end(lastBytes);
  dropInput(socket);
  drain(socket, graceMs, settle);
}

/** Time for which input is dropped after the last response is written, in milliseconds. */
const graceMs = 500;

/** Drops all further input of a connection, so that no further request is parsed and kept. */
export function dropInput(socket: Duplex): void {
  socket.removeAllListeners('data');
  // With a 'data' listener, Node passes bytes to the stream instead of to its parser.
  socket.on('data', ignore);
}

/**
 * Reads and drops input, and calls `onDone` at its end, at a limit, or by the returned function.
 * Closing a socket with unread data resets it, and the client loses the response (RFC 9112 §9.6).
 */
export function drain(source: Readable, maxMs: number, onDone: () => void): () => void {
  let dropped = 0;
  let isDone = false;
  const finish = () => {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    onDone();
  };
  const timer = setTimeout(finish, maxMs);
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
}

/** Maximum number of bytes of unwanted input that are read before a close. */
const maxDrainBytes = 64 * 1024 * 1024;

function ignore(): void {}
