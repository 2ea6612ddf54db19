import { constants } from 'node:os';
import { getSystemErrorMessage } from 'node:util';

/** Returns why a system call on a file failed, to follow its name and a colon. Rethrows others. */
export function fileErrorReason(thrown: unknown): string {
  const { errno, syscall } = thrown as NodeJS.ErrnoException;
  // The working directory was removed: that is no error of this file.
  if (errno === undefined || syscall === undefined || syscall === 'uv_cwd') throw thrown;
  // For this error number, libuv has no text.
  if (errno === -constants.errno.EDQUOT) return 'disk quota exceeded';
  return getSystemErrorMessage(errno);
}
