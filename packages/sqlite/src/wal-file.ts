import { closeSync, fsyncSync, openSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { OwnedDatabase } from './owned-database.ts';
import { createRewriter } from './rewriter.ts';

const isMissing = (thrown: unknown): boolean =>
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

/** Size of the WAL file of a database, in bytes; 0 when it does not exist. */
export const walSize = (path: string): number =>
  statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;

/** Returns the path of a WAL file that remains after close; `undefined` when it does not exist or is inaccessible. */
export const remainingWalOf = (path: string): string | undefined => {
  try {
    const file = resolveLinks(path);
    return walSize(file) > 0 ? `${file}-wal` : undefined;
  } catch {
    return undefined;
  }
};

const withWal = (path: string, use: (wal: number) => void): void => {
  let wal: number;
  try {
    wal = openSync(`${path}-wal`, 'r+');
  } catch (thrown) {
    if (isMissing(thrown)) return;
    throw thrown;
  }
  try {
    use(wal);
  } finally {
    closeSync(wal);
  }
};

/** Rewrites the WAL file, if it exists. Must only run while no other program can write to it. */
export const rewriteWal = (path: string): void => {
  if (walSize(path) === 0) return;
  const rewriter = createRewriter(`${path}-wal`);
  try {
    rewriter.rewrite(0);
  } finally {
    rewriter.close();
  }
};

/**
 * Rewrites the pages that a failed checkpoint may have appended to the file. Otherwise the next checkpoint would succeed
 * without writing them to the disk, and remove the WAL file. Must only run while no other program has the file open.
 */
export const rewriteTail = (database: OwnedDatabase, path: string): void => {
  const size = walSize(path);
  if (size === 0) return;
  const rewriter = createRewriter(path);
  // Closing it now would release the locks on the file, and another program could remove the WAL file.
  database.closeLater(rewriter);
  rewriter.rewrite(Math.max(0, statSync(path).size - size));
};

/** Syncs the WAL file and its folder, because SQLite ignores a failed sync of the folder. */
export const syncWal = (path: string): void => {
  withWal(path, fsyncSync);
  syncFolderOf(path);
};

/** Syncs the folder of a file, which makes its name durable. */
export const syncFolderOf = (path: string): void => {
  // Windows cannot sync a folder.
  if (process.platform === 'win32') return;
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
};
