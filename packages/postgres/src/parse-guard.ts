import type { Duplex } from 'node:stream';

/**
 * Turns what a listener of a stream throws into the stream's own error. The driver parses within
 * such listeners, and what it throws there, at a message it does not know, would end the process: so
 * does pg-protocol 1.16, the newest version. The tests in strange-server.test.ts show when this can go.
 */
export const guardParsing = (stream: Duplex): void => {
  const emit = stream.emit.bind(stream) as (event: string | symbol, ...args: unknown[]) => boolean;
  stream.emit = (event: string | symbol, ...args: unknown[]): boolean => {
    try {
      return emit(event, ...args);
    } catch (thrown) {
      stream.destroy(thrown instanceof Error ? thrown : new Error('unknown failure'));
      return true;
    }
  };
};
