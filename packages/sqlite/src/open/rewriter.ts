import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { codeOf } from './errors.ts';

/**
 * Rewrites files in place, so that the next sync writes them to the disk. After a failed sync,
 * Linux keeps the data in the page cache, and later syncs do not write it. On ext4, new blocks stay
 * marked as unwritten even if it is written to the page cache again, and are zeros after a restart.
 * Direct I/O bypasses the cache. Nothing else may write to the files meanwhile.
 */
export class Rewriter {
  /** Closed last: closing a descriptor releases the locks of the process on the file. */
  readonly #descriptors = new Map<string, number>();

  /** Rewrites a file from an offset to its end. */
  rewrite(path: string, from: number): void {
    const file = this.#open(path, 0);
    const direct = this.#openDirect(path);
    const { size } = fstatSync(file);
    const chunk = alignedChunk();
    let position = from - (from % block);
    for (;;) {
      const length = readSync(file, chunk, 0, chunkSize, position);
      if (length === 0) break;
      // Direct I/O writes complete blocks.
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
    if (position > size) ftruncateSync(file, size);
  }

  close(): void {
    for (const descriptor of this.#descriptors.values()) closeSync(descriptor);
  }

  #open(path: string, flags: number): number {
    const key = `${flags} ${path}`;
    const descriptor = this.#descriptors.get(key) ?? openSync(path, constants.O_RDWR | flags);
    this.#descriptors.set(key, descriptor);
    return descriptor;
  }

  /** Opens a file for direct I/O; `undefined` when the system or the file system lacks it. */
  #openDirect(path: string): number | undefined {
    const { O_DIRECT } = constants;
    if (O_DIRECT === undefined) return undefined;
    try {
      return this.#open(path, O_DIRECT);
    } catch (thrown) {
      if (codeOf(thrown) === 'EINVAL') return undefined;
      throw thrown;
    }
  }
}

const chunkSize = 2 ** 20;

/** Largest alignment that a file system requires for direct I/O, in bytes. */
const block = 4_096;

/** Allocates memory for direct I/O: a resizable ArrayBuffer is page-aligned. */
const alignedChunk = () => Buffer.from(new ArrayBuffer(chunkSize, { maxByteLength: chunkSize }));

/** Reads data back: while a page is in use, Linux can do a direct write through the page cache. */
function assertWritten(direct: number, written: Buffer, position: number): void {
  const found = alignedChunk().subarray(0, written.length);
  readSync(direct, found, 0, found.length, position);
  if (found.equals(written)) return;
  const message = 'EIO: a direct write has not reached the disk';
  throw Object.assign(new Error(message), { code: 'EIO', syscall: 'write' });
}
