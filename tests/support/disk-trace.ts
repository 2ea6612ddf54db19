import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A change or sync of a file that `disk.c` recorded. Inode 0 is the folder. */
export type Operation = {
  readonly kind:
    | 'create'
    | 'link'
    | 'unlink'
    | 'write'
    /** A write that bypasses the page cache (O_DIRECT). */
    | 'direct write'
    | 'truncate'
    | 'sync'
    | 'failed sync';
  readonly inode: bigint;
  /** Offset of a write, or size after a truncation. */
  readonly offset: number;
  /** The bytes of a write, or the name of the file. */
  readonly data: Buffer;
};

const kinds: Readonly<Record<string, Operation['kind']>> = {
  c: 'create',
  l: 'link',
  u: 'unlink',
  w: 'write',
  d: 'direct write',
  t: 'truncate',
  s: 'sync',
  f: 'failed sync',
};
const headerSize = 24;

const parse = (bytes: Buffer): Operation[] => {
  const operations: Operation[] = [];
  let at = 0;
  while (at + headerSize <= bytes.length) {
    const kind = kinds[String.fromCodePoint(bytes.readUInt32LE(at))];
    if (kind === undefined) throw new Error('the trace cannot be read');
    const end = at + headerSize + bytes.readUInt32LE(at + 4);
    // The process was killed while it wrote this record.
    if (end > bytes.length) break;
    operations.push({
      kind,
      inode: bytes.readBigUInt64LE(at + 8),
      offset: Number(bytes.readBigUInt64LE(at + 16)),
      data: bytes.subarray(at + headerSize, end),
    });
    at = end;
  }
  return operations;
};

/** Reads the operations of all processes, in the order of the processes. */
export const readTrace = async (folder: string): Promise<Operation[]> => {
  const names = (await readdir(folder)).toSorted();
  return (await Promise.all(names.map(async (name) => readFile(join(folder, name))))).flatMap(
    parse,
  );
};
