import * as fs from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** Makes a path absolute, unless the working directory was removed: each use of it then fails. */
export function absolutePath(path: string): string {
  if (typeof path !== 'string') throw new TypeError("a path must be a string, as in 'plants.db'");
  return attempt(() => resolve(path)) ?? path;
}

/** Returns what a task returns; `undefined` if it throws, as when a file system has gone. */
export function attempt<T>(task: () => T): T | undefined {
  try {
    return task();
  } catch {
    return undefined;
  }
}

/** Resolves links, also to a missing file: SQLite places the WAL file beside the resolved path. */
export function resolveLinks(path: string): string {
  // Throws for a link to itself.
  fs.statSync(path, { throwIfNoEntry: false });
  const name = join(fs.realpathSync(dirname(path)), basename(path));
  const isLink = fs.lstatSync(name, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? resolveLinks(resolve(dirname(name), fs.readlinkSync(name))) : name;
}

/**
 * Identifies the file at a path by device and inode; `undefined` if there is none. Throws if the
 * path cannot be examined.
 */
export function identityOf(path: string, stat: typeof fs.statSync = fs.statSync) {
  const found = stat(path, { bigint: true, throwIfNoEntry: false });
  return found && identify(found);
}

export const identify = ({ dev, ino }: fs.BigIntStats): string => `${dev} ${ino}`;

/** Syncs the folder of a file, which makes its name durable. */
export function syncFolderOf(path: string): void {
  // Windows cannot sync a folder.
  if (process.platform !== 'win32') withOpenFile(dirname(path), 'r', fs.fsyncSync);
}

/** Runs a task with a descriptor of a file, and closes it: never of a database file. */
export function withOpenFile<T>(path: string, flags: string | number, task: (file: number) => T) {
  const descriptor = fs.openSync(path, flags);
  try {
    return task(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Whether a file is mounted alone (`--volume ./plants.db:/data/plants.db`), without its WAL. */
export function isMountPoint(file: string): boolean {
  const isMounted = () => mountOf(file) !== mountOf(dirname(file));
  // The file may be new, and a system without /proc.
  return process.platform === 'linux' && attempt(isMounted) === true;
}

/** Opens a path only so that no other file gets its inode number, where the system can do that. */
export function holdInode(path: string): number | undefined {
  return process.platform === 'linux' ? attempt(() => fs.openSync(path, pathOnly)) : undefined;
}

/** Linux's O_PATH, which node:fs lacks. Closing such a descriptor releases no lock of a file. */
const pathOnly = 0o10000000;

/** Returns the id of the mount that a path is on (proc_pid_fdinfo(5)). */
function mountOf(path: string): string | undefined {
  return withOpenFile(path, pathOnly, (descriptor) => {
    const info = fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    return /^mnt_id:\s*(\d+)$/m.exec(info)?.[1];
  });
}
