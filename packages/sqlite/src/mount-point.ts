import { readFileSync } from 'node:fs';

const readMounts = (): string => {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    // Only Linux has this file.
    return '';
  }
};

/** Decodes white space and backslashes, which are octal numbers in the list of mounts (proc_pid_mountinfo(5)). */
const decodePath = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));

/** Whether a file alone is mounted, as with `mount --bind`. The files beside the original one are then not beside it. */
export const isMountPoint = (file: string): boolean =>
  readMounts()
    .split('\n')
    .some((line) => decodePath(line.split(' ')[4] ?? '') === file);
