import { fstatSync, readFileSync, statSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { fileErrorReason } from './file-error-reason.ts';
import { writeMessages } from './settings/write-messages.ts';

/**
 * Creates a function that waits until both outputs of a command are written, and returns the exit
 * status of the process: the given one, or 1 in place of 0 if standard output is lost.
 */
export function createExitStatus(stdout: Writable, stderr: Writable) {
  // Without a listener, an error would end the process. Node resets `errored` of standard output.
  let failure: Error | undefined;
  stdout.on('error', (error) => {
    failure ??= error;
  });
  return async (status: number): Promise<number> => {
    await untilWritten(stdout, stderr);
    if (status !== 0 || (failure === undefined && !isClosed(stdout))) return status;
    const reason =
      failure === undefined
        ? 'it is closed; to discard the output, use > /dev/null'
        : fileErrorReason(failure);
    writeMessages(stderr, [`done, but cannot write to standard output: ${reason}`]);
    await untilWritten(stderr);
    return 1;
  };
}

/** Waits until streams have written what they were given, or have failed. */
export async function untilWritten(...streams: readonly Writable[]): Promise<void> {
  const written = streams.map(
    async (stream) =>
      new Promise<void>((settle) => {
        stream.write('', () => settle());
      }),
  );
  await Promise.all(written);
}

/** The access mode of a file that is open for reading and writing, in `/proc/self/fdinfo`. */
const readAndWrite = /^flags:\s*\d*2$/m;

/**
 * Whether standard output was closed at the start: Node then opens `/dev/null` for reading and
 * writing. A shell opens `> /dev/null` for writing only. Only `/proc` distinguishes the two.
 */
function isClosed({ fd = -1 }: Writable & { readonly fd?: number }): boolean {
  try {
    const mode = readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8');
    return readAndWrite.test(mode) && fstatSync(fd).rdev === statSync('/dev/null').rdev;
  } catch {
    return false;
  }
}
