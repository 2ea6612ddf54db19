import { closeSync, openSync, readSync, statSync } from 'node:fs';

const headerSize = 32;
const frameHeaderSize = 24;
const chunkSize = 2 ** 20;
/** Offset of the lock bytes. SQLite does not use the page that contains them (the lock-byte page). */
const lockOffset = 2 ** 30;

type Checksums = readonly [number, number];

const addTo = ([first, second]: Checksums, words: DataView, littleEndian: boolean): Checksums => {
  let [a, b] = [first, second];
  for (let at = 0; at < words.byteLength; at += 8) {
    a = (a + words.getUint32(at, littleEndian) + b) >>> 0;
    b = (b + words.getUint32(at + 4, littleEndian) + a) >>> 0;
  }
  return [a, b];
};

const part = (bytes: Buffer, from: number, length: number): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset + from, length);

const endsWith = (sums: Checksums, bytes: Buffer, at: number): boolean =>
  bytes.readUInt32BE(at) === sums[0] && bytes.readUInt32BE(at + 4) === sums[1];

type Committed = {
  readonly pageSize: number;
  /** Database size in pages after the last commit; 0 when the WAL file has no commit. */
  readonly pages: number;
  readonly has: (page: number) => boolean;
};

/** Reads the frames up to the last commit, like SQLite's recovery (sqlite.org/fileformat2.html#walformat). */
const readCommitted = (log: number): Committed | undefined => {
  const header = Buffer.alloc(headerSize);
  if (readSync(log, header, 0, headerSize, 0) < headerSize) return undefined;
  const magic = header.readUInt32BE(0);
  const littleEndian = magic === 0x377f0682;
  const pageSize = header.readUInt32BE(8);
  let sums = addTo([0, 0], part(header, 0, 24), littleEndian);
  if ((!littleEndian && magic !== 0x377f0683) || !endsWith(sums, header, 24)) return undefined;
  if (pageSize < 512 || pageSize > 65_536 || !Number.isInteger(Math.log2(pageSize)))
    return undefined;

  const frameSize = frameHeaderSize + pageSize;
  const chunk = Buffer.alloc(chunkSize - (chunkSize % frameSize));
  const firstFrames = new Map<number, number>();
  let [frame, lastCommit, pages] = [0, -1, 0];
  const committed = {
    pageSize,
    has: (page: number) => (firstFrames.get(page) ?? Infinity) <= lastCommit,
  };
  for (;;) {
    const length = readSync(log, chunk, 0, chunk.length, headerSize + frame * frameSize);
    for (let at = 0; at + frameSize <= length; at += frameSize, frame += 1) {
      if (chunk.compare(header, 16, 24, at + 8, at + 16) !== 0) return { ...committed, pages };
      sums = addTo(sums, part(chunk, at, 8), littleEndian);
      sums = addTo(sums, part(chunk, at + frameHeaderSize, pageSize), littleEndian);
      if (!endsWith(sums, chunk, at + 16)) return { ...committed, pages };
      const page = chunk.readUInt32BE(at);
      if (!firstFrames.has(page)) firstFrames.set(page, frame);
      const pagesAfter = chunk.readUInt32BE(at + 4);
      if (pagesAfter > 0) [lastCommit, pages] = [frame, pagesAfter];
    }
    if (length < chunk.length) return { ...committed, pages };
  }
};

const cannotBelong = ({ pageSize, pages, has }: Committed, fileSize: number): boolean => {
  if (pages === 0) return false;
  // A partly written last page is also in the WAL file.
  const filePages = Math.floor(fileSize / pageSize);
  if (pages < filePages) return true;
  for (let page = filePages + 1; page <= pages; page += 1) {
    if (!has(page) && page !== lockOffset / pageSize + 1) return true;
  }
  return false;
};

const isForeignNow = (path: string): boolean => {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  let log: number;
  try {
    log = openSync(`${path}-wal`, 'r');
  } catch {
    // Without a WAL file there is nothing to check. SQLite reports any other error.
    return false;
  }
  try {
    const committed = readCommitted(log);
    return committed !== undefined && cannotBelong(committed, size);
  } finally {
    closeSync(log);
  }
};

const stateOf = (path: string): string =>
  [path, `${path}-wal`]
    .map((file) => statSync(file, { bigint: true, throwIfNoEntry: false }))
    .map((found) => `${found?.ino} ${found?.size} ${found?.mtimeNs}`)
    .join();

const pauseMs = 50;

/**
 * Whether the WAL file cannot belong to its database file, because recovery would make the file smaller or leave out pages.
 * A plant store never deletes rows, so its own WAL file does neither. Returns `false` while an owner writes to the file.
 */
export const hasForeignLog = (path: string): boolean => {
  const before = stateOf(path);
  if (!isForeignNow(path)) return false;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  return isForeignNow(path) && stateOf(path) === before;
};
