import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { requires } from './requires.ts';

export const requiresDevices = requires(
  process.platform === 'linux' && process.geteuid?.() === 0,
  'only root on Linux can make a device',
);

const minors = { null: '3', full: '7' };

/** Makes a device like `/dev/null` or `/dev/full` in a folder, so that no test can harm that of the machine. */
export const makeDevice = (folder: string, name: keyof typeof minors): string => {
  const path = join(folder, name);
  execFileSync('mknod', [path, 'c', '1', minors[name]]);
  return path;
};
