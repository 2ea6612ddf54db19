const faults = new Map([
  ['ENOENT', 'it does not exist'],
  ['ENOTDIR', 'it does not exist'],
  ['EACCES', 'this user may not use it'],
  ['EPERM', 'this user may not use it'],
  ['EISDIR', 'it is a folder'],
  ['EEXIST', 'it exists already'],
  ['ENOSPC', 'the disk is full'],
  ['EROFS', 'the file system is read-only'],
  ['EIO', 'the disk reports an error'],
  ['EPIPE', 'its reader has closed it'],
]);

/** Why a system call on a file failed, to follow the file's name and a colon. Throws again what is no such failure. */
export const fileFault = (thrown: unknown): string => {
  if (!(thrown instanceof Error && 'code' in thrown && 'syscall' in thrown)) throw thrown;
  const code = String(thrown.code);
  return faults.get(code) ?? code;
};
