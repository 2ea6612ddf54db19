import { type Duplex, finished, type Readable } from 'node:stream';

/**
 * Every way in which the server ends a connection. `dropped`: the last bytes are written, and the
 * connection is half-closed; then its input is read and dropped until the client closes its side or
 * a limit is reached. `lost`: the connection is destroyed, and reset if it has unread input.
 *
 * | ending               | when                                     | what the client can read   |
 * | -------------------- | ---------------------------------------- | -------------------------- |
 * | `last response`      | a response has `Connection: close`       | it, and those before it    |
 * | `parse error`        | what arrives is not HTTP, or ends early  | 400, 431 or 501, in order  |
 * | `timeout`            | a request does not arrive in time        | 408, in order              |
 * | `no tunnel`          | CONNECT                                  | 404 or 405, in order       |
 * | `request destroyed`  | another listener destroys a request      | its response, if sent      |
 * | `response conflict`  | another listener sets a wrong field      | the responses before it    |
 * | `too many requests`  | more than `maxWaiting` have no response  | nothing more               |
 * | `unread responses`   | those before a CONNECT are not read      | what the network has taken |
 * | `no handshake`       | the TLS handshake fails                  | the alert of TLS           |
 * | `idle at a stop`     | the server closes, and serves no request | all of its responses       |
 * | `deadline of a stop` | the server closes, and cannot wait       | what the network has taken |
 *
 * Node itself destroys connections that are idle for `keepAliveTimeoutMs`, above `maxConnections`,
 * or without activity while their responses are not read, and those whose client has gone.
 */
const effects = {
  'last response': 'dropped',
  'parse error': 'dropped',
  timeout: 'dropped',
  'no tunnel': 'dropped',
  'request destroyed': 'dropped',
  'response conflict': 'lost',
  'too many requests': 'lost',
  'unread responses': 'lost',
  'no handshake': 'lost',
  'idle at a stop': 'lost',
  'deadline of a stop': 'lost',
} as const;

export type Ending = keyof typeof effects;

/**
 * Ends a connection. All of them end here, or by Node.
 *
 * @param onEnded - called once, when the last bytes are written or the connection is lost
 */
export function end(
  socket: Duplex,
  ending: Ending,
  lastBytes = '',
  onEnded: (isWritten: boolean) => void = ignore,
): void {
  let pending = 2;
  finished(socket, { readable: false }, (error) => {
    onEnded(!error);
    settle();
  });
  if (effects[ending] === 'lost') {
    socket.destroy();
    return;
  }
  socket.end(lastBytes);
  dropInput(socket);
  drain(socket, graceMs, settle);

  function settle(): void {
    pending -= 1;
    if (pending === 0) socket.destroy();
  }
}

/** Time for which input is dropped after the last response is written, in milliseconds. */
const graceMs = 500;

/**
 * Makes Node end a connection in the same way after its last response. Can be removed once Node
 * does so by default (nodejs/node#21026, nodejs/node#36205).
 */
export function endAfterLastResponse(socket: Duplex): void {
  Object.assign(socket, { destroySoon });
}

/** One function for all sockets, because each idle connection would keep its own in memory. */
function destroySoon(this: Duplex): void {
  end(this, 'last response');
}

/** Drops all further input of a connection, so that no further request is parsed and kept. */
export function dropInput(socket: Duplex): void {
  socket.removeAllListeners('data');
  // With a 'data' listener, Node passes bytes to the stream instead of to its parser.
  socket.on('data', ignore);
}

/**
 * Reads and drops input, and calls `onDone` at its close, at a limit, or by the returned function.
 * Closing a socket with unread data resets it, and the client loses the response (RFC 9112 §9.6).
 */
export function drain(source: Readable, maxMs: number, onDone: () => void): () => void {
  let dropped = 0;
  let isDone = false;
  const timer = setTimeout(finish, maxMs);
  source.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > maxDrainBytes) finish();
  });
  source.once('close', finish);
  if (source.destroyed) finish();
  else source.resume();
  return finish;

  function finish(): void {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    onDone();
  }
}

/** Maximum number of bytes of unwanted input that are read before a close. */
const maxDrainBytes = 64 * 1024 * 1024;

function ignore(): void {}
