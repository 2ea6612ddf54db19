import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  type OpenMode,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import { withoutConnections } from './connection.ts';
import { codeOf, type Fault, openError, type OpenSqliteError, type Place } from './errors.ts';

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

/** Returns why another path of the file may have another WAL file and owner lock beside it. */
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

/** Syncs the WAL file and its folder, because SQLite ignores a failed sync of the folder. */
export function syncWal(file: string): void {
  // Also an empty one, which this user may not be permitted to write to.
  if (statSync(`${file}-wal`, { throwIfNoEntry: false }) !== undefined)
    withOpenFile(`${file}-wal`, 'r+', fsyncSync);
  syncFolderOf(file);
}

/** Syncs the folder of a file, which makes its name durable. */
export function syncFolderOf(path: string): void {
  // Windows cannot sync a folder.
  if (process.platform !== 'win32') withOpenFile(dirname(path), 'r', fsyncSync);
}

/** Runs a task with a descriptor of a file, and closes it. */
export function withOpenFile<T>(path: string, flags: OpenMode, task: (file: number) => T): T {
  const descriptor = openSync(path, flags);
  try {
    return task(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The file that a repository has opened. Its inode is not reused until the descriptor is closed. */
export type OpenedFile = {
  readonly path: string;
  /** The path with symbolic links resolved. */
  readonly name: string;
  readonly identity: string;
  readonly descriptor: number;
};

/** Opens the file at a path without reading it; `undefined` when it does not exist. */
export function openFile(path: string): OpenedFile | undefined {
  const name = resolveLinks(path);
  let descriptor: number;
  try {
    // Without waiting for the other end of a pipe.
    descriptor = openSync(name, pathOnly ?? constants.O_NONBLOCK);
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
  return { path, name, identity: identify(fstatSync(descriptor, { bigint: true })), descriptor };
}

/** Closes the descriptor, unless that would release locks of this process: never on Linux. */
export function closeFile({ descriptor }: OpenedFile): void {
  if (pathOnly !== undefined) closeSync(descriptor);
  else withoutConnections(descriptor, () => closeSync(descriptor));
}

/** Returns where an opened file is that does not have its path any more. */
export function placeOf({ path, name, identity, descriptor }: OpenedFile): Place | undefined {
  let found: BigIntStats | undefined;
  try {
    found = lstatSync(name, { bigint: true, throwIfNoEntry: false });
  } catch {
    return { state: 'replaced', name };
  }
  if (found !== undefined && identify(found) === identity)
    return path === name || identityOf(path) === identity ? undefined : { state: 'relinked', name };
  const hasName = fstatSync(descriptor).nlink > 0;
  let to: string | undefined;
  try {
    to = readlinkSync(`/proc/self/fd/${descriptor}`);
    // It has none, or another file system is mounted over its folder.
    if (identityOf(to) !== identity) to = undefined;
  } catch {
    // Only Linux shows it.
  }
  // A link to the file itself may have its name.
  if (found !== undefined && identityOf(name) !== identity) return { state: 'replaced', name, to };
  return { state: hasName ? 'renamed' : 'removed', name, to };
}

/** Returns the error for a file that does not have its path any more; `undefined` while it has. */
export function findReplaced(file: OpenedFile): OpenSqliteError | undefined {
  const place = placeOf(file);
  return place && openError(file.path, { kind: 'replaced', ...place });
}

/** Identifies the file at a path by device and inode; `undefined` when it is inaccessible. */
export function identityOf(path: string): string | undefined {
  try {
    return identify(statSync(path, { bigint: true }));
  } catch {
    return undefined;
  }
}

/** Linux's O_PATH, which node:fs lacks. Closing such a descriptor releases no lock. */
const pathOnly = process.platform === 'linux' ? 0o10000000 : undefined;

/** Returns the target of a link to a missing file; `undefined` without a link or its folder. */
function missingTarget(path: string): string | undefined {
  try {
    const folder = realpathSync(dirname(path));
    return resolve(folder, readlinkSync(join(folder, basename(path))));
  } catch {
    return undefined;
  }
}

/** Whether a file is mounted alone (`--volume ./plants.db:/data/plants.db`), without its WAL. */
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
  return withOpenFile(path, pathOnly ?? 'r', (descriptor) => {
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    return /^mnt_id:\s*(\d+)$/m.exec(info)?.[1];
  });
}

const identify = ({ dev, ino }: BigIntStats): string => `${dev} ${ino}`;
