import { readFile, stat } from 'node:fs/promises';

/** Content of a file that the settings name, or reason it cannot be read. */
export type FileRead =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'cannot-read'; readonly reason: string };

const faults = new Map([
  ['ENOENT', 'does not exist'],
  ['ENOTDIR', 'does not exist'],
  ['EACCES', 'may not be read by this user'],
  ['EISDIR', 'is a folder'],
]);

/** Reads a whole file; never throws. `reason` follows the path in a sentence. */
export const readSettingFile = async (path: string): Promise<FileRead> => {
  try {
    const status = await stat(path);
    // Opening a pipe blocks until it has a writer, and a device may have no end.
    if (!status.isFile() && !status.isDirectory()) {
      return { kind: 'cannot-read', reason: 'is a pipe or a device, not a file' };
    }
    return { kind: 'read', bytes: await readFile(path) };
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
    return { kind: 'cannot-read', reason: faults.get(code) ?? `cannot be read (${code})` };
  }
};
