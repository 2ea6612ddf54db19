import type { Socket } from 'node:net';
import type { Duplex, Readable } from 'node:stream';

/** How much of an unwanted body is read, so that its sender comes to read the answer. */
const maxDrainBytes = 64 * 1024 * 1024;

/**
 * Reads and drops what still comes, until it ends or a bound is met. Closing a socket with unread
 * data resets the connection, and the client loses the answer (RFC 9112 §9.6).
 */
export const drain = async (source: Readable, maxMs: number): Promise<void> =>
  new Promise((resolve) => {
    let dropped = 0;
    const timer = setTimeout(settle, maxMs);
    function settle() {
      clearTimeout(timer);
      source.off('data', onData);
      resolve();
    }
    function onData(chunk: Buffer) {
      dropped += chunk.length;
      if (dropped > maxDrainBytes) settle();
    }
    source.on('data', onData);
    source.once('end', settle);
    source.once('close', settle);
    if (source.destroyed || source.readableEnded) settle();
    else source.resume();
  });

const ignore = (): void => {};

/** Drops everything that a connection still sends, so that no further request is parsed and kept. */
export const dropInput = (socket: Duplex): void => {
  // With a listener, Node passes the bytes through the stream and no longer straight to its parser.
  socket.on('data', ignore);
  socket.removeAllListeners('data');
  socket.on('data', ignore);
};

/** For how long what still comes at the end of a connection is dropped, in milliseconds. */
const maxLingerMs = 500;

/**
 * Ends a connection in stages: our side at once, the other when it ends too or a bound is met. So its
 * last answer can be read though more has come than was to be answered.
 */
export const endInStages = (
  socket: Duplex,
  lastWords = '',
  onEnded: (isWritten: boolean) => void = () => {},
): void => {
  const flushed = new Promise<void>((resolve) => {
    socket.once('close', resolve);
    socket.end(lastWords, (error?: Error | null) => {
      onEnded(!error);
      resolve();
    });
  });
  dropInput(socket);
  void Promise.all([flushed, drain(socket, maxLingerMs)]).then(() => socket.destroy());
};

/** Has Node end a connection in stages, too, after the last response on it. */
export const letEndInStages = (socket: Socket): void => {
  Object.assign(socket, { destroySoon: () => endInStages(socket) });
};
