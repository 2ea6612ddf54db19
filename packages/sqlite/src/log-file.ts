import {
  closeSync,
  fsyncSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

const isMissing = (thrown: unknown): boolean =>
  thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';

/** The path that a link leads to: SQLite keeps the log beside it. */
export const withoutLinks = (path: string): string => {
  try {
    return realpathSync(path);
  } catch (thrown) {
    if (isMissing(thrown)) return path;
    throw thrown;
  }
};

/** Whether a database has a log with content. */
export const hasLog = (path: string): boolean =>
  (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;

/** The log that is left beside a database that was closed, as far as this user can see it. */
export const logLeftBy = (path: string): string | undefined => {
  try {
    const file = withoutLinks(path);
    return hasLog(file) ? `${file}-wal` : undefined;
  } catch {
    return undefined;
  }
};

const chunkSize = 2 ** 20;

const writeAgain = (file: number): void => {
  const chunk = Buffer.alloc(chunkSize);
  let position = 0;
  let length = readSync(file, chunk, 0, chunkSize, position);
  while (length > 0) {
    position += writeSync(file, chunk, 0, length, position);
    length = readSync(file, chunk, 0, chunkSize, position);
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

/**
 * Writes every byte of a log in its place again, if there is a log. For the owner of the database alone.
 * After a sync that failed, Linux reads what never reached the disk, and later syncs succeed without writing it.
 */
export const rewriteLog = (path: string): void => withLog(path, writeAgain);

/** Syncs the log, and the names in its folder: SQLite ignores that a folder could not be synced. */
export const syncLog = (path: string): void => {
  withLog(path, fsyncSync);
  // Windows syncs no folders.
  if (process.platform === 'win32') return;
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
};
