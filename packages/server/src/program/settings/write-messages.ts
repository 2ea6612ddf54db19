import type { Writable } from 'node:stream';

/** Writes messages for the operator, one per line. */
export const writeMessages = (stderr: Writable, messages: readonly string[]): void => {
  for (const message of messages) stderr.write(`plantstore-server: ${message}\n`);
};
