import { fstatSync, readFileSync, statSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { fileErrorReason } from './file-error-reason.ts';
import { writeMessages } from './settings/write-messages.ts';

/**
 * Creates a function that waits until standard output is written, and returns the exit status of a
 * process with the given one: 1 in place of 0 if the output is lost.
 */
export function createExitStatus(stdout: Writable, stderr: Writable) {
  // Without a listener, an error would end the process. Node resets `errored` of standard output.
  let failure: Error | undefined;
  stdout.on('error', (error) => {
    failure ??= error;
  });
  return async (status: number): Promise<number> => {
    if (status !== 0) return status;
    await new Promise<void>((settle) => {
      stdout.write('', () => settle());
    });
    if (failure === undefined && !isClosed(stdout)) return 0;
    const reason =
      failure === undefined
        ? 'it is closed; to discard the output, use > /dev/null'
        : fileErrorReason(failure);
    writeMessages(stderr, [`done, but cannot write to standard output: ${reason}`]);
    return 1;
  };
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
