import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A change of a file, or a sync, as `disk.c` recorded it. The folder is inode 0. */
export type Operation = {
  readonly kind: 'create' | 'unlink' | 'write' | 'truncate' | 'sync' | 'failed sync';
  readonly inode: bigint;
  /** Where a write begins, or the size after a truncation. */
  readonly offset: number;
  /** What was written, or a name. */
  readonly data: Buffer;
};

const kinds: Readonly<Record<string, Operation['kind']>> = {
  c: 'create',
  u: 'unlink',
  w: 'write',
  t: 'truncate',
  s: 'sync',
  f: 'failed sync',
};
const headSize = 24;

const parse = (bytes: Buffer): Operation[] => {
  const operations: Operation[] = [];
  let at = 0;
  while (at + headSize <= bytes.length) {
    const kind = kinds[String.fromCodePoint(bytes.readUInt32LE(at))];
    if (kind === undefined) throw new Error('the trace cannot be read');
    const end = at + headSize + bytes.readUInt32LE(at + 4);
    // Its process was killed meanwhile.
    if (end > bytes.length) break;
    operations.push({
      kind,
      inode: bytes.readBigUInt64LE(at + 8),
      offset: Number(bytes.readBigUInt64LE(at + 16)),
      data: bytes.subarray(at + headSize, end),
    });
    at = end;
  }
  return operations;
};

/** Reads what the processes recorded, one after the other. */
export const readTrace = async (folder: string): Promise<Operation[]> => {
  const names = (await readdir(folder)).toSorted();
  return (await Promise.all(names.map(async (name) => readFile(join(folder, name))))).flatMap(
    parse,
  );
};
