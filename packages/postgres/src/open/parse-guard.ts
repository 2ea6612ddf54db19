import type { Duplex } from 'node:stream';

/**
 * Destroys a stream with the exception of a listener instead of throwing it. The driver parses messages in
 * such listeners, and pg-protocol 1.16 throws for unknown messages, which would end the process. Remove when
 * the tests in malformed-messages.test.ts pass without it.
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
