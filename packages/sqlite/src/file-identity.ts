import { statSync } from 'node:fs';

/** Identifies a file independently of its path. */
export type FileIdentity = { readonly device: bigint; readonly inode: bigint };

/** Returns the identity of the file at a path, or `undefined` when it is missing or inaccessible. */
export const identityOf = (path: string): FileIdentity | undefined => {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return { device: dev, inode: ino };
  } catch {
    return undefined;
  }
};

export const isSameFile = (
  one: FileIdentity | undefined,
  other: FileIdentity | undefined,
): boolean => one !== undefined && one.device === other?.device && one.inode === other.inode;
