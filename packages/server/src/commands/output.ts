import { once } from 'node:events';
import { createWriteStream, statSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { fileFault } from './file-fault.ts';

/** Where plants are exported to. What it throws is the failure of a system call. */
export type Output = {
  /** Resolves once the next text may come. */
  readonly write: (text: string) => Promise<void>;
  /** Gives a file its name; it is on the disk then. */
  readonly finish: () => Promise<void>;
  /** Leaves nothing behind. */
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

/** Devices and pipes have names, too, and are written to as they are. */
const isSpecial = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isFile() === false;

const toSpecial = async (path: string): Promise<Output> => {
  const stream = createWriteStream(path, { flags: 'w' });
  await once(stream, 'open');
  // The write that fails reports it.
  stream.on('error', () => {});
  const output = toStream(stream);
  return {
    ...output,
    finish: async () => new Promise((settle) => stream.end(settle)),
    abandon: async () => void stream.destroy(),
  };
};

/** Syncs the names in a folder. */
export const syncFolder = async (folder: string): Promise<void> => {
  // Windows syncs no folders.
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
  /** Another export to the same file may have removed ours. */
  const isOurs = async (): Promise<boolean> => {
    const [one, other] = await Promise.all([file.stat(), stat(partial).catch(() => undefined)]);
    return one.dev === other?.dev && one.ino === other.ino;
  };
  return {
    write: async (text) => file.writeFile(text),
    finish: async () => {
      await file.sync();
      if (!(await isOurs())) {
        throw Object.assign(new Error('replaced'), { code: 'EEXIST', syscall: 'rename' });
      }
      await rename(partial, path);
      await file.close();
      await syncFolder(dirname(path));
    },
    abandon: async () => {
      if (await isOurs()) await rm(partial);
      await file.close();
    },
  };
};

/** Opens a file, or a stream where there is none, or returns why that is not possible. */
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
    return { fault: `cannot write ${file}: ${fileFault(thrown)}` };
  }
};
