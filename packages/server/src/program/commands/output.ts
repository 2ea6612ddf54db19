import { type Stats, statSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { err, ok, type Result } from 'neverthrow';
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

/** Writes a device or a pipe in place. */
const toSpecial = async (path: string): Promise<Output> => {
  const file = await open(path, 'w');
  return {
    write: async (text) => file.writeFile(text),
    finish: async () => file.close(),
    abandon: async () => file.close(),
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

/** Returns whether a file is the database, or a file beside it that must stay there. */
const isOfDatabase = ({ dev, ino }: Stats, database: string): boolean =>
  ['', '-wal', '-shm', '-owner'].some((suffix) => {
    const found = statSync(`${database}${suffix}`, { throwIfNoEntry: false });
    return found?.dev === dev && found.ino === ino;
  });

/**
 * Opens the file, or standard output without one, or returns why it cannot be opened. The file is not that
 * of the SQLite database, if there is one. The error is a message for the operator.
 */
export const openOutput = async (
  file: string | undefined,
  stdout: Writable,
  replace: boolean,
  database: string | undefined,
): Promise<Result<Output, string>> => {
  if (file === undefined) return ok(toStream(stdout));
  const path = resolve(file);
  try {
    const existing = statSync(path, { throwIfNoEntry: false });
    if (existing?.isFile() === false) return ok(await toSpecial(path));
    if (existing !== undefined && database !== undefined && isOfDatabase(existing, database)) {
      return err(`${file} belongs to the database: name another file`);
    }
    if (existing !== undefined && !replace) {
      return err(`${file} exists already: name another file, or add --replace`);
    }
    return ok(await toFile(path));
  } catch (thrown) {
    return err(`cannot write ${file}: ${fileErrorReason(thrown)}`);
  }
};
