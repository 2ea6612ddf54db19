import { fsyncSync, openSync, readSync, statSync } from 'node:fs';
import { attempt, identityOf, syncFolderOf, withOpenFile } from './path.ts';

/** Size of the WAL file of a database, in bytes; 0 without one, `undefined` when inaccessible. */
export function walSize(file: string): number | undefined {
  return attempt(() => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0);
}

/** Size of the header of a WAL file, before its first frame. */
export const walHeaderSize = 32;

/** Syncs the WAL file and its folder, because SQLite ignores a failed sync of the folder. */
export function syncWal(file: string): void {
  // Also an empty one, which this user may not be permitted to write to.
  if (statSync(`${file}-wal`, { throwIfNoEntry: false }) !== undefined)
    withOpenFile(`${file}-wal`, 'r+', fsyncSync);
  syncFolderOf(file);
}

/** Whether an open file is in WAL mode (sqlite.org/fileformat2.html, 1.3.3). */
export function isInWalMode(descriptor: number): boolean {
  const versions = Buffer.alloc(2);
  readSync(descriptor, versions, 0, 2, 18);
  return versions.equals(Buffer.of(2, 2));
}

/**
 * Returns a descriptor of a database file that is never closed: closing one releases the locks of
 * all connections of this process to the file (sqlite.org/howtocorrupt.html, 2.2).
 */
export function keptDescriptorOf(file: string): number {
  const identity = identityOf(file);
  const descriptor = keptDescriptors.get(identity) ?? openSync(file, 'r');
  keptDescriptors.set(identity, descriptor);
  return descriptor;
}

const keptDescriptors = new Map<string | undefined, number>();
