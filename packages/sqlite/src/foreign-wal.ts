import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { readCommitted } from './committed-pages.ts';
import { withoutConnections } from './connections.ts';

/** Whether the header of a file says that it is not in WAL mode (sqlite.org/fileformat2.html#file_format_version_numbers). */
const isInRollbackMode = (path: string): boolean => {
  const versions = Buffer.alloc(2);
  const file = openSync(path, 'r');
  try {
    readSync(file, versions, 0, 2, 18);
  } finally {
    closeSync(file);
  }
  return versions.equals(Buffer.of(1, 1));
};

const isForeignNow = (path: string): boolean => {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const wal = readCommitted(path);
  if (wal === undefined) return false;
  // SQLite removes a WAL file beside an empty file.
  if (size === 0) return true;
  // A partly written last page is also in the WAL file.
  if (!wal.hasFrom(Math.floor(size / wal.pageSize) + 1)) return true;
  // SQLite changes the mode before the first commit to a WAL file, and back only after it has removed that.
  return withoutConnections(path, () => isInRollbackMode(path)) === true;
};

const stateOf = (path: string): string =>
  [path, `${path}-wal`]
    .map((file) => statSync(file, { bigint: true, throwIfNoEntry: false }))
    .map((found) => `${found?.ino} ${found?.size} ${found?.mtimeNs}`)
    .join();

const pauseMs = 50;

/**
 * Whether a file and its WAL file are not of one database, as after a backup was copied over the file: a page is in
 * neither, or the file is not in WAL mode, as each backup. SQLite would open them, and plants would be lost. Returns
 * `false` while an owner writes to them.
 */
export const hasForeignWal = (path: string): boolean => {
  const before = stateOf(path);
  if (!isForeignNow(path)) return false;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  return isForeignNow(path) && stateOf(path) === before;
};
