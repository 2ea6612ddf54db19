import type { Operation } from './disk-trace.ts';

/** Size of a block, which a disk never writes in part. */
const blockSize = 4096;

/** Decides for each change that was not synced whether it survives the power cut. */
export type Survives = () => boolean;

/** Maximum size of a file in a test. */
const maxByteLength = 64 * 1024 * 1024;

/** Creates the content of an empty file. Its buffer is resizable; added bytes are zero. */
const createBytes = () => new Uint8Array(new ArrayBuffer(0, { maxByteLength }));

/**
 * Simulates a file in the page cache of Linux. A write marks blocks as dirty, and a sync as clean. A failed sync
 * also marks them as clean: they can be read, but no later sync writes them. On ext4, added blocks remain marked as
 * unwritten then: after another write through the page cache, a sync succeeds, and the blocks are still not on the disk.
 */
const createFile = () => {
  const cached = createBytes();
  const durable = createBytes();
  let hasNewSize = false;
  const dirty = new Set<number>();
  const unwritten = new Set<number>();
  const resize = (size: number) => {
    if (size === cached.length) return;
    cached.buffer.resize(size);
    hasNewSize = true;
  };
  const copyBlock = (block: number, to: Uint8Array) => {
    if (block >= to.length || unwritten.has(block)) return;
    to.set(cached.subarray(block, Math.min(block + blockSize, to.length)), block);
  };
  const clean = () => {
    dirty.clear();
    hasNewSize = false;
  };
  /** Returns the durable content, with the dirty blocks that survive. */
  const afterPowerCut = (survives: Survives): Buffer => {
    const result = Buffer.alloc(hasNewSize && survives() ? cached.length : durable.length);
    result.set(durable.subarray(0, result.length));
    for (const block of dirty) {
      if (survives()) copyBlock(block, result);
    }
    return result;
  };
  return {
    write(offset: number, data: Buffer, isDirect: boolean) {
      resize(Math.max(cached.length, offset + data.length));
      // The new size becomes durable with a sync.
      hasNewSize ||= offset + data.length > durable.length;
      cached.set(data, offset);
      const first = offset - (offset % blockSize);
      for (let block = first; block < offset + data.length; block += blockSize) {
        dirty.add(block);
        if (isDirect) unwritten.delete(block);
      }
    },
    truncate(size: number) {
      resize(size);
      for (const block of dirty) if (block >= size) dirty.delete(block);
      for (const block of unwritten) if (block >= size) unwritten.delete(block);
    },
    sync() {
      if (hasNewSize) durable.buffer.resize(cached.length);
      for (const block of dirty) copyBlock(block, durable);
      clean();
    },
    failToSync() {
      for (const block of dirty) if (block >= durable.length) unwritten.add(block);
      clean();
    },
    afterPowerCut,
    cached: () => Buffer.from(cached),
  };
};

type File = ReturnType<typeof createFile>;

/** Simulates the files of a folder. All names become durable together, because ext4 journals them. */
export const createFolder = () => {
  const files = new Map<bigint, File>();
  let cached = new Map<string, File>();
  let durable = new Map<string, File>();
  let isDirty = false;
  const fileOf = (inode: bigint): File => {
    const file = files.get(inode);
    if (file === undefined) throw new Error(`the trace has no create of inode ${inode}`);
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
      case 'link':
        cached = new Map(cached).set(data.toString(), fileOf(inode));
        isDirty = true;
        return;
      case 'unlink':
        cached = new Map(cached);
        cached.delete(data.toString());
        isDirty = true;
        return;
      case 'write':
      case 'direct write':
        return fileOf(inode).write(offset, data, kind === 'direct write');
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
    /** Returns the content of a file as a process reads it. */
    read: (name: string): string => cached.get(name)?.cached().toString() ?? '',
    /** Returns the files after a power cut. */
    cutPower: (survives: Survives): Map<string, Buffer> => {
      const names = isDirty && survives() ? cached : durable;
      return new Map([...names].map(([name, file]) => [name, file.afterPowerCut(survives)]));
    },
  };
};
