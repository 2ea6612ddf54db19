import type { Operation } from './disk-trace.ts';

/** The unit in which a disk keeps a file. */
const blockSize = 4096;

/** Which changes that no sync made durable a power cut leaves: none, all, or those for which it is true. */
export type Leaves = () => boolean;

/** More than any file of a test grows to. */
const maxByteLength = 64 * 1024 * 1024;

/** The bytes of an empty file. Its buffer can be resized; what is added is zero. */
const createBytes = () => new Uint8Array(new ArrayBuffer(0, { maxByteLength }));

/**
 * A file as Linux keeps it. Blocks are dirty from a write until a sync. A sync that fails marks them
 * clean, too: they can be read, and no later sync writes them.
 */
const createFile = () => {
  const cached = createBytes();
  const durable = createBytes();
  let hasNewSize = false;
  const dirty = new Set<number>();
  const resize = (size: number) => {
    if (size === cached.length) return;
    cached.buffer.resize(size);
    hasNewSize = true;
  };
  const copyBlock = (block: number, to: Uint8Array) => {
    if (block >= to.length) return;
    to.set(cached.subarray(block, Math.min(block + blockSize, to.length)), block);
  };
  const clean = () => {
    dirty.clear();
    hasNewSize = false;
  };
  /** What is durable, and what `keeps` chooses of the rest. */
  const after = (keeps: Leaves): Buffer => {
    const result = Buffer.alloc(hasNewSize && keeps() ? cached.length : durable.length);
    result.set(durable.subarray(0, result.length));
    for (const block of dirty) {
      if (keeps()) copyBlock(block, result);
    }
    return result;
  };
  return {
    write(offset: number, data: Buffer) {
      resize(Math.max(cached.length, offset + data.length));
      // The disk learns the size with the block that ends the file.
      hasNewSize ||= offset + data.length > durable.length;
      cached.set(data, offset);
      const first = offset - (offset % blockSize);
      for (let block = first; block < offset + data.length; block += blockSize) dirty.add(block);
    },
    truncate(size: number) {
      resize(size);
      for (const block of dirty) if (block >= size) dirty.delete(block);
    },
    sync() {
      if (hasNewSize) durable.buffer.resize(cached.length);
      for (const block of dirty) copyBlock(block, durable);
      clean();
    },
    failToSync: clean,
    after,
    cached: () => Buffer.from(cached),
  };
};

type File = ReturnType<typeof createFile>;

/** The files of a folder while operations are done on them. The names are one unit: ext4 journals them. */
export const createFolder = () => {
  const files = new Map<bigint, File>();
  let cached = new Map<string, File>();
  let durable = new Map<string, File>();
  let isDirty = false;
  const fileOf = (inode: bigint): File => {
    const file = files.get(inode);
    if (file === undefined) throw new Error(`nothing created the file ${inode}`);
    return file;
  };
  const syncNames = (succeeds: boolean) => {
    if (succeeds && isDirty) durable = new Map(cached);
    isDirty = false;
  };

  const apply = ({ kind, inode, offset, data }: Operation): void => {
    switch (kind) {
      case 'create':
        files.set(inode, createFile());
        cached = new Map(cached).set(data.toString(), fileOf(inode));
        isDirty = true;
        return;
      case 'unlink':
        cached = new Map(cached);
        cached.delete(data.toString());
        isDirty = true;
        return;
      case 'write':
        return fileOf(inode).write(offset, data);
      case 'truncate':
        return fileOf(inode).truncate(offset);
      case 'sync':
        return inode === 0n ? syncNames(true) : fileOf(inode).sync();
      case 'failed sync':
        return inode === 0n ? syncNames(false) : fileOf(inode).failToSync();
    }
  };

  return {
    apply,
    /** The content of a file as a process sees it. */
    read: (name: string): string => cached.get(name)?.cached().toString() ?? '',
    /** What a power cut now would leave. */
    cutPower: (leaves: Leaves): Map<string, Buffer> => {
      const names = isDirty && leaves() ? cached : durable;
      return new Map([...names].map(([name, file]) => [name, file.after(leaves)]));
    },
  };
};
