import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  statSync,
} from 'node:fs';
import { withoutConnections } from './connection.ts';
import { codeOf, openError, type OpenSqliteError, type Place } from './errors.ts';
import { pathOnly, resolveLinks } from './path.ts';

/** The file that a repository has opened. Its inode is not reused until the descriptor is closed. */
export type OpenedFile = {
  /** Path that was opened. */
  readonly path: string;
  /** Name of the file: the path with symbolic links resolved. */
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
  const identity = identify(fstatSync(descriptor, { bigint: true }));
  return { path, name, identity, descriptor };
}

/** Closes the descriptor. Elsewhere than on Linux, it stays open while closing it would release locks of the process. */
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

/** Identifies the file at a path independently of the path: its device and inode; `undefined` when it is missing or inaccessible. */
export function identityOf(path: string): string | undefined {
  try {
    return identify(statSync(path, { bigint: true }));
  } catch {
    return undefined;
  }
}

const identify = ({ dev, ino }: BigIntStats): string => `${dev} ${ino}`;
