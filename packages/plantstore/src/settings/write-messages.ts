import type { Writable } from 'node:stream';
import { escapeUnprintable } from './text.ts';

/** Writes messages for the operator, one per line: first the errors. */
export function writeMessages(
  stderr: Writable,
  errors: readonly string[],
  warnings: readonly string[] = [],
): void {
  for (const message of [...errors, ...warnings.map((warning) => `warning: ${warning}`)])
    stderr.write(`plantstore: ${escapeUnprintable(message)}\n`);
}
