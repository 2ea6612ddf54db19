import { closeSync, fsyncSync, openSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { openRewriter } from './rewriter.ts';

const isMissing = (thrown: unknown): boolean =>
  thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';

/** The path that a link to a missing file leads to; `undefined` where it is no link, or has no folder. */
const missingTarget = (path: string): string | undefined => {
  try {
    const folder = realpathSync(dirname(path));
    return resolve(folder, readlinkSync(join(folder, basename(path))));
  } catch {
    return undefined;
  }
};

/** The path that a link leads to, also where no file is there yet: SQLite keeps the log beside it. */
export const withoutLinks = (path: string): string => {
  try {
    return realpathSync(path);
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown;
    const target = missingTarget(path);
    return target === undefined ? path : withoutLinks(target);
  }
};

/** Size of the log of a database, in bytes; 0 where there is none. */
export const logSize = (path: string): number =>
  statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;

/** The log that is left beside a database that was closed, as far as this user can see it. */
export const logLeftBy = (path: string): string | undefined => {
  try {
    const file = withoutLinks(path);
    return logSize(file) > 0 ? `${file}-wal` : undefined;
  } catch {
    return undefined;
  }
};

const withLog = (path: string, use: (log: number) => void): void => {
  let log: number;
  try {
    log = openSync(`${path}-wal`, 'r+');
  } catch (thrown) {
    if (isMissing(thrown)) return;
    throw thrown;
  }
  try {
    use(log);
  } finally {
    closeSync(log);
  }
};

/** Writes a log again, if there is one. Only while no other program can write to it. */
export const rewriteLog = (path: string): void => {
  if (logSize(path) === 0) return;
  const rewriter = openRewriter(`${path}-wal`);
  try {
    rewriter.rewrite(0);
  } finally {
    rewriter.close();
  }
};

/**
 * Writes again the pages by which moving the log into the file may have made it longer. Without it, an attempt that
 * follows a failed one would succeed without writing them, and remove the log. Only while no other program has the file.
 */
export const rewriteTail = (path: string): void => {
  const log = logSize(path);
  if (log === 0) return;
  const rewriter = openRewriter(path);
  try {
    rewriter.rewrite(Math.max(0, statSync(path).size - log));
  } finally {
    rewriter.close();
  }
};

/** Syncs the log, and the names in its folder: SQLite ignores that a folder could not be synced. */
export const syncLog = (path: string): void => {
  withLog(path, fsyncSync);
  syncFolderOf(path);
};

/** Syncs the names in the folder of a file. */
export const syncFolderOf = (path: string): void => {
  // Windows syncs no folders.
  if (process.platform === 'win32') return;
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
};
