import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { identityOf, isSameFile } from './file-identity.ts';
import { logSize, syncFolderOf } from './log-file.ts';

/** What stands in the place of a database while its log is being removed: SQLite refuses to open it. */
const placeholder = /^plantstore: a restore was interrupted; run it again\. Kept: (.+)\n$/;
const placeholderFor = (kept: string): string =>
  `plantstore: a restore was interrupted; run it again. Kept: ${basename(kept)}\n`;
const maxPlaceholderSize = 4_096;

/** Where an interrupted replacement has kept the database, if one is in its place now. */
const keptBefore = (file: string): string | undefined => {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? Infinity;
  if (size > maxPlaceholderSize) return undefined;
  const name = placeholder.exec(readFileSync(file, 'utf8'))?.[1];
  return name === undefined ? undefined : join(dirname(file), name);
};

const keptNameOf = (file: string): string =>
  `${file}.replaced-${new Date().toISOString().replaceAll(':', '-')}`;

/** Removes the other names that an interrupted replacement gave to a database that is still in its place. */
const removeOtherNames = (file: string): void => {
  const folder = dirname(file);
  const prefix = `${basename(file)}.replaced-`;
  for (const name of readdirSync(folder).filter((one) => one.startsWith(prefix))) {
    const path = join(folder, name);
    if (!isSameFile(identityOf(path), identityOf(file))) continue;
    rmSync(`${path}-wal`, { force: true });
    rmSync(path);
  }
};

/** Gives a database and its log a second name each. */
const keep = (file: string): string => {
  removeOtherNames(file);
  const kept = keptNameOf(file);
  if (existsSync(file)) linkSync(file, kept);
  if (logSize(file) > 0) linkSync(`${file}-wal`, `${kept}-wal`);
  syncFolderOf(file);
  return kept;
};

/** What a placeholder is named before it is complete. */
const unfinishedPlaceholder = (file: string): string => `${file}.restoring-mark`;

const putPlaceholder = (file: string, kept: string): void => {
  const path = unfinishedPlaceholder(file);
  writeFileSync(path, placeholderFor(kept));
  const opened = openSync(path, 'r+');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
  renameSync(path, file);
  syncFolderOf(file);
};

/**
 * Puts another file in the place of a database, which keeps another name, as does its log. Only for the owner. After an
 * interruption at any moment, the old database is in its place with its log, or the new one is without a log, or a
 * placeholder is that no program takes for a database; calling it again settles that.
 *
 * @returns the path under which the old database is kept, if there was one
 */
export const replaceFile = (file: string, replacement: string): string | undefined => {
  const hasLog = logSize(file) > 0;
  const kept = existsSync(file) || hasLog ? (keptBefore(file) ?? keep(file)) : undefined;
  // With the log of the old database beside it, the new one would be damaged; without it, the old one lacks plants.
  if (kept !== undefined && hasLog) putPlaceholder(file, kept);
  for (const path of [`${file}-wal`, `${file}-shm`, unfinishedPlaceholder(file)]) {
    rmSync(path, { force: true });
  }
  syncFolderOf(file);
  renameSync(replacement, file);
  syncFolderOf(file);
  return kept;
};
