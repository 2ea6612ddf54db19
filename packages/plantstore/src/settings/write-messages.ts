import type { Writable } from 'node:stream';
import { escapeUnprintable } from './text.ts';

/** Writes messages for the operator, one per line: first the errors. */
export function writeMessages(
  stderr: Writable,
  errors: readonly string[],
  warnings: readonly string[] = [],
): void {
  for (const message of [...errors, ...warnings.map((warning) => `warning: ${warning}`)])
    writeLine(stderr, `plantstore: ${message}`);
}

/** Writes a line, in which characters that are not printable are escaped. */
export function writeLine(stream: Writable, line: string): void {
  stream.write(`${escapeUnprintable(line)}\n`);
}
