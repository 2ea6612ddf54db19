import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Installs what is compared with, at exact versions: in folders of their own, for nothing else needs it. */
export const installIn = async (folder: 'compare' | 'peers'): Promise<void> => {
  await promisify(execFile)('npx', ['-y', 'pnpm@12', 'install', '--frozen-lockfile'], {
    cwd: join(import.meta.dirname, folder),
    shell: process.platform === 'win32',
  });
};
