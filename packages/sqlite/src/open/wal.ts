import { readSync, statSync } from 'node:fs';
import { withoutConnections } from './connection.ts';
import type { Fault } from './errors.ts';
import { withOpenFile } from './path.ts';

/** Returns a fault if a file and its WAL file are not of one database; none while an owner writes. */
export function findWalOfAnotherFile(file: string): Fault | undefined {
  const before = stateOf(file);
  if (!isOfAnotherFile(file)) return undefined;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  return isOfAnotherFile(file) && stateOf(file) === before
    ? { kind: 'wal-of-another-file', wal: `${file}-wal` }
    : undefined;
}

/** Reads a WAL file up to its last commit, like SQLite's recovery; `undefined` without a commit. */
export function readCommitted(file: string) {
  try {
    return withOpenFile(`${file}-wal`, 'r', readFrames);
  } catch (thrown) {
    // Without a WAL file there is nothing to check. SQLite reports any other error.
    if (thrown instanceof Error && 'syscall' in thrown && thrown.syscall === 'open')
      return undefined;
    throw thrown;
  }
}

const headerSize = 32;
const frameHeaderSize = 24;
/** Offset of the lock bytes. SQLite does not use the page that contains them (the lock-byte page). */
const lockOffset = 2 ** 30;

const stateOf = (path: string): string =>
  [path, `${path}-wal`]
    .map((file) => statSync(file, { bigint: true, throwIfNoEntry: false }))
    .map((found) => `${found?.ino} ${found?.size} ${found?.mtimeNs}`)
    .join();

function isOfAnotherFile(path: string): boolean {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const wal = readCommitted(path);
  if (wal === undefined) return false;
  // SQLite removes a WAL file beside an empty file.
  if (size === 0) return true;
  // A partly written last page is also in the WAL file.
  if (!wal.hasFrom(Math.floor(size / wal.pageSize) + 1)) return true;
  // SQLite changes the mode before the first commit to a WAL file, and back only after it has removed that.
  return withoutConnections(path, () => isInRollbackMode(path)) === true;
}

/** Whether a file is, by its header, not in WAL mode (sqlite.org/fileformat2.html#file_format_version_numbers). */
function isInRollbackMode(path: string): boolean {
  const versions = Buffer.alloc(2);
  withOpenFile(path, 'r', (file) => readSync(file, versions, 0, 2, 18));
  return versions.equals(Buffer.of(1, 1));
}

function readFrames(wal: number) {
  const start = Buffer.alloc(headerSize);
  if (readSync(wal, start, 0, headerSize, 0) < headerSize) return undefined;
  const sums = new Int32Array(2);
  add(sums, new Int32Array(start.buffer), 0, 24);
  // The checksums of a machine with another byte order differ, too.
  if (!areAt(sums, start, 24)) return undefined;

  const pageSize = start.readUInt32BE(8);
  const frame = Buffer.alloc(frameHeaderSize + pageSize);
  const words = new Int32Array(frame.buffer);
  const written = new Set([lockOffset / pageSize + 1]);
  const uncommitted: number[] = [];
  let [frames, pages] = [0, 0];
  for (let at = headerSize; ; at += frame.length) {
    if (readSync(wal, frame, 0, frame.length, at) < frame.length) break;
    add(sums, words, 0, 8);
    add(sums, words, frameHeaderSize, pageSize);
    const isOfThisWal = frame.compare(start, 16, 24, 8, 16) === 0;
    if (!isOfThisWal || !areAt(sums, frame, 16)) break;
    uncommitted.push(frame.readUInt32BE(0));
    // The size of the database, which only the last frame of a commit has.
    const size = frame.readUInt32BE(4);
    if (size === 0) continue;
    for (const page of uncommitted.splice(0)) written.add(page);
    [frames, pages] = [(at - headerSize) / frame.length + 1, size];
  }
  /** Whether the WAL file contains every page of the database from this number on. */
  const hasFrom = (page: number): boolean => {
    let next = page;
    while (next <= pages && written.has(next)) next += 1;
    return next > pages;
  };
  return pages === 0 ? undefined : { pageSize, frames, pages, hasFrom };
}

/** Adds bytes to the two cumulative checksums. Local variables of the type int32 make the loop four times as fast. */
function add(sums: Int32Array, words: Int32Array, from: number, length: number): void {
  let [first = 0, second = 0] = sums;
  const end = (from + length) / 4;
  for (let at = from / 4; at < end; at += 2) {
    first = (first + second + (words[at] ?? 0)) | 0;
    second = (first + second + (words[at + 1] ?? 0)) | 0;
  }
  sums.set([first, second]);
}

const areAt = (sums: Int32Array, bytes: Buffer, at: number): boolean =>
  bytes.readInt32BE(at) === sums[0] && bytes.readInt32BE(at + 4) === sums[1];
