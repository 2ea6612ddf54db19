import { readFile, stat } from 'node:fs/promises';
import { err, ok, type Result } from 'neverthrow';

/** Reads a file that the settings name. The error is a reason that follows the path in a sentence. */
export async function readSettingFile(path: string): Promise<Result<Buffer, string>> {
  try {
    const status = await stat(path);
    // Opening a pipe blocks until it has a writer, and a device may have no end.
    if (!status.isFile() && !status.isDirectory()) {
      return err('is a pipe or a device, not a file');
    }
    return ok(await readFile(path));
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
    return err(faults.get(code) ?? `cannot be read (${code})`);
  }
}

const faults = new Map([
  ['ENOENT', 'does not exist'],
  ['ENOTDIR', 'does not exist'],
  ['EACCES', 'may not be read by this user'],
  ['EISDIR', 'is a folder'],
  ['ERR_ACCESS_DENIED', 'may not be read: Node runs with --permission; add --allow-fs-read'],
]);
