import type { Writable } from 'node:stream';

/** Writes messages for the operator, one per line: first the errors. */
export function writeMessages(
  stderr: Writable,
  errors: readonly string[],
  warnings: readonly string[] = [],
): void {
  for (const message of errors) stderr.write(`plantstore: ${message}\n`);
  for (const message of warnings) stderr.write(`plantstore: warning: ${message}\n`);
}
