import { readdirSync, readlinkSync } from 'node:fs';

/** Returns the descriptors that this process has of a file, and of those beside it. Linux only. */
export function descriptorsOf(path: string): readonly string[] {
  return readdirSync('/proc/self/fd').filter((one) => fileOf(one).startsWith(path));
}

export function fileOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    // The descriptor that listed the others is closed.
    return '';
  }
}
