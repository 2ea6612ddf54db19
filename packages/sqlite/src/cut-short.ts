import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';

const headerLength = 100;

const readHeader = (path: string): Buffer => {
  const header = Buffer.alloc(headerLength);
  const file = openSync(path, 'r');
  try {
    readSync(file, header, 0, headerLength, 0);
  } finally {
    closeSync(file);
  }
  return header;
};

/**
 * Whether a database file has fewer bytes than its header says (sqlite.org/fileformat2.html §1.3), as a
 * copy that broke off has. Where only the last page is cut, SQLite opens the file and misses plants
 * without a word. With a log beside it the header need not be the newest, and nothing can be said.
 */
export const isCutShort = (path: string): boolean => {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== true || found.size < headerLength) return false;
  if (existsSync(`${path}-wal`)) return false;
  const header = readHeader(path);
  const isDatabase = header.toString('latin1', 0, 16) === 'SQLite format 3\0';
  const isCountValid = header.readUInt32BE(24) === header.readUInt32BE(92);
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  return isDatabase && isCountValid && found.size < pageSize * header.readUInt32BE(28);
};
