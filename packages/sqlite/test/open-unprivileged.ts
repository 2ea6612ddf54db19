import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openAsOwner } from '../src/open/owned-database.ts';

/** Opens a file in another process, as an unprivileged user if this one is root, and returns its result. */
export async function openUnprivileged(path: string): Promise<unknown> {
  const args = ['--disable-warning=ExperimentalWarning', fileURLToPath(import.meta.url), path];
  return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout) as unknown;
}

const [, program, path] = process.argv;
if (program === fileURLToPath(import.meta.url) && path !== undefined) {
  // Everything is imported: this user may not be permitted to read the sources.
  if (process.getuid?.() === 0) process.setuid?.(65_534);
  const opened = openAsOwner({ kind: 'create', path });
  const result = opened.match(
    () => ({ kind: 'opened' }),
    ({ kind, message }) => ({ kind, message }),
  );
  process.stdout.write(JSON.stringify(result));
}
