import { writeFileSync } from 'node:fs';

/** Appends to a file until the disk is full. */
export const fillDisk = (ballast: string): void => {
  try {
    for (let size = 65_536; size >= 1; size /= 2) {
      for (;;) writeFileSync(ballast, Buffer.alloc(size), { flag: 'a' });
    }
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOSPC') throw thrown;
  }
};
