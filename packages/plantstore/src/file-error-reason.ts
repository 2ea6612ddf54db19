import { constants } from 'node:os';

/** Returns why a system call on a file failed, to follow its name and a colon. Rethrows others. */
export function fileErrorReason(thrown: unknown): string {
  if (!(thrown instanceof Error && 'code' in thrown && 'syscall' in thrown)) throw thrown;
  // The working directory was removed: that is no error of this file.
  if (thrown.syscall === 'uv_cwd') throw thrown;
  // For this error number, libuv has no code.
  if ('errno' in thrown && thrown.errno === -constants.errno.EDQUOT) return 'a quota is exceeded';
  const code = String(thrown.code);
  return reasons.get(code) ?? code;
}

const reasons = new Map([
  ['ENOENT', 'it does not exist'],
  ['ENOTDIR', 'it does not exist'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EISDIR', 'it is a folder'],
  ['EEXIST', 'it exists already'],
  ['ENOSPC', 'the disk is full'],
  ['EROFS', 'the file system is read-only'],
  ['EIO', 'the disk reports an error'],
  ['EMFILE', 'too many files are open'],
  ['EBADF', 'it is closed'],
  ['EPIPE', 'the reader has closed it'],
]);
