import * as fs from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import { codeOf, openError, type OpenSqliteError } from './errors.ts';

/** Makes a path absolute. */
export function absolutePath(path: string): Result<string, OpenSqliteError> {
  if (typeof path !== 'string') throw new TypeError("a path must be a string, as in 'plants.db'");
  if (path.includes('\0')) {
    const found = `${JSON.stringify(path)} contains a NUL byte`;
    return err(openError(path, { fault: 'unexpected', found }));
  }
  try {
    return ok(resolve(path));
  } catch (cause) {
    // The working directory was removed.
    return err(openError(path, { fault: 'cannot-open', cause }));
  }
}

/** Resolves links, also to a missing file: SQLite places the WAL file beside the resolved path. */
export function resolveLinks(path: string): string {
  try {
    return fs.realpathSync(path);
  } catch (thrown) {
    if (codeOf(thrown) !== 'ENOENT' || !fs.existsSync(dirname(path))) throw thrown;
    const name = join(fs.realpathSync(dirname(path)), basename(path));
    const isLink = fs.lstatSync(name, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    return isLink ? resolveLinks(resolve(dirname(name), fs.readlinkSync(name))) : name;
  }
}

/**
 * Identifies the file at a path by device and inode; `undefined` if there is none. Throws if the
 * path cannot be examined.
 */
export function identityOf(path: string, stat: typeof fs.statSync = fs.statSync) {
  try {
    const found = stat(path, { bigint: true, throwIfNoEntry: false });
    return found && identify(found);
  } catch (thrown) {
    // A folder of the path was replaced by a file.
    if (codeOf(thrown) === 'ENOTDIR') return undefined;
    throw thrown;
  }
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

/** Runs a task that closes something, whose file system may have gone: that is no failure. */
export function release(close: () => void): void {
  try {
    close();
  } catch {
    // What the operating system keeps of it ends with the process.
  }
}

/** Linux's O_PATH, which node:fs lacks. Closing such a descriptor releases no lock of a file. */
export const pathOnly = 0o10000000;

/** Whether a file is mounted alone (`--volume ./plants.db:/data/plants.db`), without its WAL. */
export function isMountPoint(file: string): boolean {
  try {
    return process.platform === 'linux' && mountOf(file) !== mountOf(dirname(file));
  } catch {
    // The file is new, or there is no /proc.
    return false;
  }
}

/** Returns the id of the mount that a path is on (proc_pid_fdinfo(5)). */
function mountOf(path: string): string | undefined {
  return withOpenFile(path, pathOnly, (descriptor) => {
    const info = fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    return /^mnt_id:\s*(\d+)$/m.exec(info)?.[1];
  });
}
