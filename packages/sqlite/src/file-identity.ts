import { statSync } from 'node:fs';

/** Which file a name means; it may come to mean another one. */
export type FileIdentity = { readonly device: bigint; readonly inode: bigint };

/** The file of this name, or `undefined` where none is to be found, or none may be looked for. */
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
