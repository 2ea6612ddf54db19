import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { codeOf } from '../open/errors.ts';
import { walSize } from '../open/path.ts';

/** Rewrites the WAL file. Must only run while no other program can write to it. */
export function rewriteWal(file: string): void {
  const opened: number[] = [];
  try {
    rewriteFile(`${file}-wal`, 0, (descriptor) => opened.push(descriptor));
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** Rewrites pages of a failed checkpoint at the end of a file that no other program has open. */
export function rewriteTail(file: string, onOpen: (descriptor: number) => void): void {
  rewriteFile(file, Math.max(0, statSync(file).size - walSize(file)), onOpen);
}

/**
 * Rewrites a file from an offset to its end, in place, so that the next sync writes it to the disk.
 * After a failed sync, Linux keeps the data in the page cache, and later syncs do not write it:
 * direct I/O bypasses the cache. `onOpen` receives each descriptor that the caller must close.
 */
export function rewriteFile(path: string, from: number, onOpen: (file: number) => void): void {
  const file = openSync(path, 'r+');
  onOpen(file);
  const direct = openDirect(path);
  if (direct !== undefined) onOpen(direct);
  const chunk = alignedChunk();
  const { blksize, size } = fstatSync(file);
  const block = direct === undefined ? 1 : Math.min(blksize, maxBlock);
  let position = from - (from % block);
  for (;;) {
    const length = readSync(file, chunk, 0, chunkSize, position);
    if (length === 0) break;
    const padded = Math.ceil(length / block) * block;
    chunk.fill(0, length, padded);
    try {
      const written = writeSync(direct ?? file, chunk, 0, padded, position);
      if (direct !== undefined) assertWritten(direct, chunk.subarray(0, written), position);
      position += written;
    } catch (thrown) {
      // A failed direct write has removed data from the page cache that SQLite expects to read.
      writeSync(file, chunk, 0, length, position);
      throw thrown;
    }
  }
  // Direct I/O writes complete blocks.
  if (position > size) ftruncateSync(file, size);
}

const chunkSize = 2 ** 20;

/** Largest alignment that a file system requires for direct I/O, in bytes. */
const maxBlock = 4096;

/** Allocates memory for direct I/O: a resizable ArrayBuffer is page-aligned. */
const alignedChunk = () => Buffer.from(new ArrayBuffer(chunkSize, { maxByteLength: chunkSize }));

/** Opens a file for direct I/O; `undefined` when the platform or the file system lacks it. */
function openDirect(path: string): number | undefined {
  if (constants.O_DIRECT === undefined) return undefined;
  try {
    return openSync(path, constants.O_RDWR | constants.O_DIRECT);
  } catch (thrown) {
    if (codeOf(thrown) === 'EINVAL') return undefined;
    throw thrown;
  }
}

/** Reads data back: while a page is in use, Linux can do a direct write through the page cache. */
function assertWritten(direct: number, written: Buffer, position: number): void {
  const found = alignedChunk().subarray(0, written.length);
  readSync(direct, found, 0, found.length, position);
  if (found.equals(written)) return;
  const message = 'EIO: a direct write has not reached the disk';
  throw Object.assign(new Error(message), { code: 'EIO', syscall: 'write' });
}
