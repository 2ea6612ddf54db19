import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';

/** Writes a file again in its place, so that the next sync of it is a real one. */
export type Rewriter = {
  /** Writes every byte from an offset on. */
  readonly rewrite: (from: number) => void;
  readonly close: () => void;
};

const chunkSize = 2 ** 20;

/** Upper limit of what file systems ask direct I/O to be aligned to, in bytes. */
const maxBlock = 4096;

/** Memory that begins at a page, as direct I/O needs it: that of a resizable buffer does. */
const alignedChunk = (): Buffer =>
  Buffer.from(new ArrayBuffer(chunkSize, { maxByteLength: chunkSize }));

/** Opens a file for direct I/O, or `undefined` where the system or the file system has none. */
const openDirect = (path: string): number | undefined => {
  if (constants.O_DIRECT === undefined) return undefined;
  try {
    return openSync(path, constants.O_RDWR | constants.O_DIRECT);
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'EINVAL') return undefined;
    throw thrown;
  }
};

const writeAgain = (file: number, direct: number | undefined, from: number): void => {
  const chunk = alignedChunk();
  const { blksize, size } = fstatSync(file);
  const block = direct === undefined ? 1 : Math.min(blksize, maxBlock);
  let position = from - (from % block);
  let length = readSync(file, chunk, 0, chunkSize, position);
  while (length > 0) {
    const padded = Math.ceil(length / block) * block;
    chunk.fill(0, length, padded);
    try {
      position += writeSync(direct ?? file, chunk, 0, padded, position);
    } catch (thrown) {
      // A direct write that fails has dropped from the page cache what SQLite expects to read there.
      writeSync(file, chunk, 0, length, position);
      throw thrown;
    }
    length = readSync(file, chunk, 0, chunkSize, position);
  }
  // Direct I/O took whole blocks.
  if (position > size) ftruncateSync(file, size);
};

/**
 * Opens a file to write it again. After a sync that failed, Linux reads what never reached the disk, and later
 * syncs succeed without writing it. On ext4 that holds for a second write through the page cache, too: the blocks
 * stay marked as unwritten. Direct I/O goes past the cache.
 */
export const openRewriter = (path: string): Rewriter => {
  const file = openSync(path, 'r+');
  const direct = openDirect(path);
  return {
    rewrite: (from) => writeAgain(file, direct, from),
    close() {
      closeSync(file);
      if (direct !== undefined) closeSync(direct);
    },
  };
};
