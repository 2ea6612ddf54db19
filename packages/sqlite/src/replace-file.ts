import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { identityOf, isSameFile } from './file-identity.ts';
import { logSize, syncFile, syncFolderOf } from './log-file.ts';

/** Content of the file that replaces a database while its WAL file is being removed. SQLite refuses to open it. */
const placeholder = /^plantstore: a restore was interrupted; run it again\. Kept: (.+)\n$/;
const placeholderFor = (kept: string): string =>
  `plantstore: a restore was interrupted; run it again. Kept: ${basename(kept)}\n`;
const maxPlaceholderSize = 4_096;

/** Returns the path where an interrupted replacement kept the database, if the file is a placeholder. */
const keptBefore = (file: string): string | undefined => {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? Infinity;
  if (size > maxPlaceholderSize) return undefined;
  const name = placeholder.exec(readFileSync(file, 'utf8'))?.[1];
  return name === undefined ? undefined : join(dirname(file), name);
};

const keptNameOf = (file: string): string =>
  `${file}.replaced-${new Date().toISOString().replaceAll(':', '-')}`;

/** Removes the hard links that an interrupted replacement created for a database that was not replaced. */
const removeOtherLinks = (file: string): void => {
  const folder = dirname(file);
  const prefix = `${basename(file)}.replaced-`;
  for (const name of readdirSync(folder).filter((one) => one.startsWith(prefix))) {
    const path = join(folder, name);
    if (!isSameFile(identityOf(path), identityOf(file))) continue;
    rmSync(`${path}-wal`, { force: true });
    rmSync(path);
  }
};

/** Creates a hard link to the database and one to its WAL file. */
const keep = (file: string): string => {
  removeOtherLinks(file);
  const kept = keptNameOf(file);
  if (existsSync(file)) linkSync(file, kept);
  if (logSize(file) > 0) linkSync(`${file}-wal`, `${kept}-wal`);
  syncFolderOf(file);
  return kept;
};

/** Path of the placeholder until it is complete. */
const unfinishedPlaceholder = (file: string): string => `${file}.restoring-mark`;

const putPlaceholder = (file: string, kept: string): void => {
  const path = unfinishedPlaceholder(file);
  writeFileSync(path, placeholderFor(kept));
  syncFile(path);
  renameSync(path, file);
  syncFolderOf(file);
};

/**
 * Replaces a database with another file, and keeps the database and its WAL file under other names. Must only run while
 * this process holds the owner lock. After an interruption, the path has the old database with its WAL file, the new
 * database without one, or a placeholder that SQLite does not open; calling this again completes the replacement.
 *
 * @returns the path under which the old database is kept, if there was one
 */
export const replaceFile = (file: string, replacement: string): string | undefined => {
  const hasLog = logSize(file) > 0;
  const kept = existsSync(file) || hasLog ? (keptBefore(file) ?? keep(file)) : undefined;
  // The old WAL file would damage the new database, and without it the old database lacks plants.
  if (kept !== undefined && hasLog) putPlaceholder(file, kept);
  for (const path of [`${file}-wal`, `${file}-shm`, unfinishedPlaceholder(file)]) {
    rmSync(path, { force: true });
  }
  syncFolderOf(file);
  renameSync(replacement, file);
  syncFolderOf(file);
  return kept;
};
