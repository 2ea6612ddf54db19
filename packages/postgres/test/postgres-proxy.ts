import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Cleanup } from '@plantstore/test-support/make-folder';
import { inject, onTestFinished } from 'vitest';
import {
  createRoundReader,
  errorResponse,
  readyForQuery,
  type Round,
  type SentStatement,
  simpleQuery,
} from './wire-messages.ts';

/** How the proxy handles a statement. */
export type StatementAction =
  | 'pass'
  /** Resets the connection without sending the statement to the server. */
  | 'reset-before'
  /** Sends the statement to the server, and resets the connection instead of sending the response. */
  | 'reset-after'
  /** Sends the statement to the server, and only half of what it responds first; then closes the connection. */
  | 'half-response'
  /** Sends the statement to the server 100 ms later. */
  | 'delay'
  /** Begins a transaction before the statement, and does not commit it. */
  | 'begin-before'
  /** Discards the statement without a response. */
  | 'discard'
  /** Responds with an error. `FATAL` closes the connection. */
  | { readonly error: string; readonly severity?: 'FATAL' }
  /** Sends the statement to the server, and responds with this error instead. */
  | { readonly errorAfter: string };

/** A proxy for a PostgreSQL server that can cause faults. */
export type PostgresProxy = Awaited<ReturnType<typeof startProxy>>;

/** Starts a proxy in front of a server on this machine, by default the shared one, and closes it after the test. */
export const startProxy = async (
  serverPort = inject('postgresPort'),
  cleanup: Cleanup = onTestFinished,
) => {
  const statements: SentStatement[] = [];
  const sockets = new Set<Socket>();
  let actionFor: (statement: SentStatement) => StatementAction = () => 'pass';
  let connections = 0;
  let bytesSent = 0;
  let isFrozen = false;
  let isRefusing = false;

  const serve = (client: Socket) => {
    connections += 1;
    if (isRefusing) {
      client.destroy();
      return;
    }
    const upstream = connect(serverPort, '127.0.0.1');
    const read = createRoundReader();
    /** Handles the next data from the server. */
    let onResponse: ((chunk: Buffer) => void) | undefined;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      if (isFrozen) socket.pause();
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    const reset = () => client.resetAndDestroy();

    const handle = ({ bytes, statement }: Round) => {
      onResponse = undefined;
      if (statement === undefined) {
        upstream.write(bytes);
        return;
      }
      statements.push(statement);
      const action = actionFor(statement);
      if (action === 'discard') return;
      if (action === 'reset-before') {
        reset();
      } else if (action === 'pass' || action === 'reset-after') {
        if (action === 'reset-after') onResponse = reset;
        upstream.write(bytes);
      } else if (action === 'half-response') {
        onResponse = (chunk) => client.end(chunk.subarray(0, chunk.length / 2));
        upstream.write(bytes);
      } else if (action === 'delay') {
        setTimeout(() => upstream.write(bytes), 100);
      } else if (action === 'begin-before') {
        onResponse = () => {
          onResponse = undefined;
          upstream.write(bytes);
        };
        upstream.write(simpleQuery('BEGIN'));
      } else if ('errorAfter' in action) {
        const { errorAfter } = action;
        onResponse = (chunk) => {
          if (!chunk.includes(readyForQuery)) return;
          client.write(Buffer.concat([errorResponse(errorAfter), readyForQuery]));
        };
        upstream.write(bytes);
      } else if (action.severity === 'FATAL') {
        client.end(errorResponse(action.error, 'FATAL'));
      } else {
        client.write(Buffer.concat([errorResponse(action.error), readyForQuery]));
      }
    };
    client.on('data', (chunk) => {
      for (const round of read(chunk)) handle(round);
    });
    upstream.on('data', (chunk) => {
      bytesSent += chunk.length;
      if (onResponse === undefined) client.write(chunk);
      else onResponse(chunk);
    });
  };

  const server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const resetAll = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  cleanup(async () => {
    server.close();
    resetAll();
    await once(server, 'close');
  });
  return {
    port,
    /** Returns a URL of the server with the port of the proxy. */
    through: (url: string) => url.replace(/:\d+(?=\/[^/]*$)/, `:${port}`),
    /** Statements received so far. */
    statements,
    /** Number of connections so far. */
    connections: () => connections,
    /** Number of connections that are open on either side. */
    openConnections: () => sockets.size,
    /** Number of bytes that the server has sent. */
    bytesSent: () => bytesSent,
    /** Sets the handler of all further statements. */
    onStatement: (action: (statement: SentStatement) => StatementAction) => {
      actionFor = action;
    },
    /** Resets every open connection. */
    resetAll,
    /** Sends the end of the data on every open connection. */
    endAll: () => {
      for (const socket of sockets) socket.end();
    },
    /** Closes each further connection at once. */
    refuse: (refuses: boolean) => {
      isRefusing = refuses;
    },
    /** Pauses or resumes all data in both directions, also on new connections. */
    freeze: (frozen: boolean) => {
      isFrozen = frozen;
      for (const socket of sockets) {
        if (frozen) socket.pause();
        else socket.resume();
      }
    },
  };
};
