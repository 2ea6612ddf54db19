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
import { withoutConnections } from './connections.ts';
import { isMissing, resolveLinks } from './wal-file.ts';

/** Linux's O_PATH, which node:fs lacks. Closing such a descriptor releases no lock of this process on the file. */
export const pathOnly = process.platform === 'linux' ? 0o10000000 : undefined;

const identify = ({ dev, ino }: BigIntStats): string => `${dev} ${ino}`;

/** Identifies the file at a path independently of the path: its device and inode; `undefined` when it is missing or inaccessible. */
export const identityOf = (path: string): string | undefined => {
  try {
    return identify(statSync(path, { bigint: true }));
  } catch {
    return undefined;
  }
};

/** The file that a repository has opened. Its inode is not reused until the descriptor is closed. */
export type KeptFile = {
  /** Path that was opened. */
  readonly path: string;
  /** Name of the file: the path with symbolic links resolved. */
  readonly name: string;
  readonly identity: string;
  readonly descriptor: number;
};

/** Keeps the file at a path; `undefined` when it does not exist. */
export const keepFile = (path: string): KeptFile | undefined => {
  const name = resolveLinks(path);
  let descriptor: number;
  try {
    // Without waiting for the other end of a pipe.
    descriptor = openSync(name, pathOnly ?? constants.O_NONBLOCK);
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
  const identity = identify(fstatSync(descriptor, { bigint: true }));
  return { path, name, identity, descriptor };
};

/** Closes the descriptor. Elsewhere than on Linux, it stays open while closing it would release locks of the process. */
export const releaseFile = ({ descriptor, name }: KeptFile): void => {
  if (pathOnly !== undefined) closeSync(descriptor);
  else withoutConnections(name, () => closeSync(descriptor));
};

/** What became of a kept file. */
export type Fate = {
  /** `relinked`: the path leads elsewhere. `renamed`, `removed`: no other file has its name. `replaced`: another file has it. */
  readonly kind: 'unchanged' | 'relinked' | 'renamed' | 'replaced' | 'removed';
  /** Its new name, if it has one and the platform shows it. */
  readonly to?: string | undefined;
};

/** Returns what became of a kept file. */
export const fateOf = ({ path, name, identity, descriptor }: KeptFile): Fate => {
  let found: BigIntStats | undefined;
  try {
    found = lstatSync(name, { bigint: true, throwIfNoEntry: false });
  } catch {
    return { kind: 'replaced' };
  }
  if (found !== undefined && identify(found) === identity)
    return { kind: path === name || identityOf(path) === identity ? 'unchanged' : 'relinked' };
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
  if (found !== undefined && identityOf(name) !== identity) return { kind: 'replaced', to };
  return { kind: hasName ? 'renamed' : 'removed', to };
};
