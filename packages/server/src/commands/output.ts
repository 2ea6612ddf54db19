import { once } from 'node:events';
import { createWriteStream, statSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { fileErrorReason } from './file-error-reason.ts';

/** Destination of an export. Its methods reject with errors of system calls. */
export type Output = {
  /** Resolves once the text is written, for backpressure. */
  readonly write: (text: string) => Promise<void>;
  /** Syncs a file to the disk and renames it to its final name. */
  readonly finish: () => Promise<void>;
  /** Removes the partial file. */
  readonly abandon: () => Promise<void>;
};

const toStream = (stream: Writable): Output => ({
  write: async (text) =>
    new Promise((settle, reject) => {
      stream.write(text, (error) => {
        if (error) reject(error);
        else settle();
      });
    }),
  finish: async () => {},
  abandon: async () => {},
});

/** Returns whether a path is a device or a pipe, which is written in place. */
const isSpecial = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isFile() === false;

const toSpecial = async (path: string): Promise<Output> => {
  const stream = createWriteStream(path, { flags: 'w' });
  await once(stream, 'open');
  // write() rejects with the same error.
  stream.on('error', () => {});
  const output = toStream(stream);
  return {
    ...output,
    finish: async () => new Promise((settle) => stream.end(settle)),
    abandon: async () => void stream.destroy(),
  };
};

/** Syncs the entries of a folder to the disk. */
const syncFolder = async (folder: string): Promise<void> => {
  // Windows cannot sync folders.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

const toFile = async (path: string): Promise<Output> => {
  const partial = `${path}.partial`;
  // Left by an export that was interrupted.
  await rm(partial, { force: true });
  const file = await open(partial, 'wx');
  /** Another export to the same path may have replaced the partial file. */
  const isSameFile = async (): Promise<boolean> => {
    const [one, other] = await Promise.all([file.stat(), stat(partial).catch(() => undefined)]);
    return one.dev === other?.dev && one.ino === other.ino;
  };
  return {
    write: async (text) => file.writeFile(text),
    finish: async () => {
      await file.sync();
      if (!(await isSameFile())) {
        throw Object.assign(new Error('replaced'), { code: 'EEXIST', syscall: 'rename' });
      }
      await rename(partial, path);
      await file.close();
      await syncFolder(dirname(path));
    },
    abandon: async () => {
      if (await isSameFile()) await rm(partial);
      await file.close();
    },
  };
};

/** Opens the file, or standard output without one, or returns why it cannot be opened. */
export const openOutput = async (
  file: string | undefined,
  stdout: Writable,
  replace: boolean,
): Promise<Output | { readonly fault: string }> => {
  if (file === undefined) return toStream(stdout);
  const path = resolve(file);
  try {
    if (isSpecial(path)) return await toSpecial(path);
    const exists = statSync(path, { throwIfNoEntry: false }) !== undefined;
    if (exists && !replace) {
      return { fault: `${file} exists already: name another file, or add --replace` };
    }
    return await toFile(path);
  } catch (thrown) {
    return { fault: `cannot write ${file}: ${fileErrorReason(thrown)}` };
  }
};
