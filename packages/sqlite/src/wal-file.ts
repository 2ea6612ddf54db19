import { closeSync, fsyncSync, openSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { OwnedDatabase } from './owned-database.ts';
import { rewriteFile } from './rewriter.ts';

/** Whether a system call failed because a file does not exist. */
export const isMissing = (thrown: unknown): boolean =>
  thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';

/** Returns the target of a link to a missing file; `undefined` when the path is not a link, or its folder is missing. */
const missingTarget = (path: string): string | undefined => {
  try {
    const folder = realpathSync(dirname(path));
    return resolve(folder, readlinkSync(join(folder, basename(path))));
  } catch {
    return undefined;
  }
};

/** Resolves symbolic links, also to a missing file: SQLite places the WAL file beside the resolved path. */
export const resolveLinks = (path: string): string => {
  try {
    return realpathSync(path);
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown;
    const target = missingTarget(path);
    return target === undefined ? path : resolveLinks(target);
  }
};

/** Size of the WAL file of a database, in bytes; 0 when it does not exist or is inaccessible. */
export const walSize = (path: string): number => {
  try {
    return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return 0;
  }
};

/** Rewrites the WAL file. Must only run while no other program can write to it. */
export const rewriteWal = (path: string): void => {
  const opened: number[] = [];
  try {
    rewriteFile(`${path}-wal`, 0, (descriptor) => opened.push(descriptor));
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
};

/**
 * Rewrites the pages that a failed checkpoint may have appended to the file. Otherwise the next checkpoint would succeed
 * without writing them to the disk, and remove the WAL file. Must only run while no other program has the file open.
 */
export const rewriteTail = (database: OwnedDatabase, path: string): void => {
  // Closing a descriptor now would release the locks on the file, and another program could remove the WAL file.
  const closeLater = (descriptor: number) =>
    database.closeLater({ close: () => closeSync(descriptor) });
  rewriteFile(path, Math.max(0, statSync(path).size - walSize(path)), closeLater);
};

const syncPath = (path: string, flags: string): void => {
  const opened = openSync(path, flags);
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
};

/** Syncs the WAL file and its folder, because SQLite ignores a failed sync of the folder. */
export const syncWal = (path: string): void => {
  // Also an empty one, which this user may not be permitted to write to.
  if (statSync(`${path}-wal`, { throwIfNoEntry: false }) !== undefined)
    syncPath(`${path}-wal`, 'r+');
  syncFolderOf(path);
};

/** Syncs the folder of a file, which makes its name durable. */
export const syncFolderOf = (path: string): void => {
  // Windows cannot sync a folder.
  if (process.platform !== 'win32') syncPath(dirname(path), 'r');
};
