import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import { codeOf, type Fault, openError, type OpenSqliteError } from './errors.ts';

/** Makes a path absolute. */
export function absolutePath(path: string): Result<string, OpenSqliteError> {
  if (path.includes('\0')) {
    const message = `${JSON.stringify(path)} contains a NUL byte, which no path can`;
    return err(openError(path, { kind: 'unexpected', message }));
  }
  try {
    return ok(resolve(path));
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw cause;
    const message = `${path} cannot be found, because the working directory was removed; name an absolute path`;
    return err(openError(path, { kind: 'cannot-open', message, cause }));
  }
}

/** Resolves symbolic links, also to a missing file: SQLite places the WAL file beside the resolved path. */
export function resolveLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch (thrown) {
    if (codeOf(thrown) !== 'ENOENT') throw thrown;
    const target = missingTarget(path);
    return target === undefined ? path : resolveLinks(target);
  }
}

/** Returns why the WAL file and the owner lock beside a path may not be those that another path of the file has. */
export function findOtherPath(file: string): Fault | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() === true && found.nlink > 1)
    return { kind: 'hard-links', hasWal: walSize(file) > 0 };
  return isMountPoint(file) ? { kind: 'mount-point' } : undefined;
}

/** Size of the WAL file of a database, in bytes; 0 when it does not exist or is inaccessible. */
export function walSize(file: string): number {
  try {
    return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return 0;
  }
}

export function syncPath(path: string, flags: 'r' | 'r+'): void {
  const opened = openSync(path, flags);
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** Syncs the folder of a file, which makes its name durable. */
export function syncFolderOf(path: string): void {
  // Windows cannot sync a folder.
  if (process.platform !== 'win32') syncPath(dirname(path), 'r');
}

/** Linux's O_PATH, which node:fs lacks. Closing such a descriptor releases no lock of this process on the file. */
export const pathOnly = process.platform === 'linux' ? 0o10000000 : undefined;

/** Returns the target of a link to a missing file; `undefined` when the path is not a link, or its folder is missing. */
function missingTarget(path: string): string | undefined {
  try {
    const folder = realpathSync(dirname(path));
    return resolve(folder, readlinkSync(join(folder, basename(path))));
  } catch {
    return undefined;
  }
}

/** Whether a file alone is mounted, as with `docker run --volume ./plants.db:/data/plants.db`. The files beside the original one are then not beside it. */
function isMountPoint(file: string): boolean {
  if (pathOnly === undefined) return false;
  try {
    return mountOf(file) !== mountOf(dirname(file));
  } catch {
    // The file is new, or there is no /proc.
    return false;
  }
}

/** Returns the id of the mount that a path is on (proc_pid_fdinfo(5)). */
function mountOf(path: string): string | undefined {
  const descriptor = openSync(path, pathOnly ?? 'r');
  try {
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    return /^mnt_id:\s*(\d+)$/m.exec(info)?.[1];
  } finally {
    closeSync(descriptor);
  }
}
