import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';

export type LogOutput = {
  /** Returns the number of bytes that wait to be written. */
  readonly waiting: () => number;
  /** Writes text. If that fails, calls `onFailed` with the number of written bytes; -1 if that is not known. */
  readonly write: (text: string, onFailed: (written: number) => void) => void;
  /** Waits until everything is written, or writing has failed. */
  readonly written: () => Promise<void>;
};

/**
 * Returns the output of a log. The stream of a file would not report that only a part was written, so that its
 * descriptor is used instead.
 */
export function logOutputOf(stream: Writable & { readonly fd?: unknown }): LogOutput {
  const { fd } = stream;
  // process.stdout has a descriptor, and is a socket unless it is a file.
  if (typeof fd !== 'number' || stream instanceof Socket) {
    return {
      waiting: () => stream.writableLength,
      write: (text, onFailed) => void stream.write(text, (error) => error && onFailed(-1)),
      written: async () =>
        new Promise((resolve) => {
          stream.write('', () => resolve());
        }),
    };
  }
  return {
    waiting: () => 0,
    write(text, onFailed) {
      const bytes = Buffer.from(text);
      let written = 0;
      try {
        // Node continues after a short write, until a write fails.
        written = writeSync(fd, bytes);
      } catch {
        // The disk is full, for example. The log counts what is missing.
      }
      if (written < bytes.byteLength) onFailed(written);
    },
    written: async () => {},
  };
}
