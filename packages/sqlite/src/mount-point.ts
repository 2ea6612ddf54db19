import { closeSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathOnly } from './kept-file.ts';

/** Returns the id of the mount that a path is on (proc_pid_fdinfo(5)). */
const mountOf = (path: string): string | undefined => {
  const descriptor = openSync(path, pathOnly ?? 'r');
  try {
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    return /^mnt_id:\s*(\d+)$/m.exec(info)?.[1];
  } finally {
    closeSync(descriptor);
  }
};

/** Whether a file alone is mounted, as with `docker run --volume ./plants.db:/data/plants.db`. The files beside the original one are then not beside it. */
export const isMountPoint = (file: string): boolean => {
  if (pathOnly === undefined) return false;
  try {
    return mountOf(file) !== mountOf(dirname(file));
  } catch {
    // The file is new, or there is no /proc.
    return false;
  }
};
