import { fsyncSync, openSync, readSync, statSync } from 'node:fs';
import type { Fault } from './errors.ts';
import { identityOf, syncFolderOf, withOpenFile } from './path.ts';

/** Size of the WAL file of a database, in bytes; 0 when it does not exist or is inaccessible. */
export function walSize(file: string): number {
  try {
    return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return 0;
  }
}

/** Syncs the WAL file and its folder, because SQLite ignores a failed sync of the folder. */
export function syncWal(file: string): void {
  // Also an empty one, which this user may not be permitted to write to.
  if (statSync(`${file}-wal`, { throwIfNoEntry: false }) !== undefined)
    withOpenFile(`${file}-wal`, 'r+', fsyncSync);
  syncFolderOf(file);
}

/**
 * Returns a fault if a WAL file has plants, and the file is missing (`undefined`), empty or not in
 * WAL mode, as each backup is: SQLite would remove the WAL file, or apply it to the backup. It
 * changes the mode before the first commit to a WAL file, and back only after it has removed that.
 */
export function findWalOfAnotherFile(file: string, descriptor?: number): Fault | undefined {
  if (walSize(file) <= walHeaderSize) return undefined;
  if (descriptor !== undefined && isInWalMode(descriptor)) return undefined;
  return { kind: 'wal-of-another-file', detail: file };
}

/** Whether an open file is in WAL mode (sqlite.org/fileformat2.html, 1.3.3). */
export function isInWalMode(descriptor: number): boolean {
  const versions = Buffer.alloc(2);
  readSync(descriptor, versions, 0, 2, 18);
  return versions.equals(Buffer.of(2, 2));
}

const walHeaderSize = 32;

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
