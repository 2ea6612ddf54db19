import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Wraps a command so that the folder is a file system of 2 MB in a private mount namespace. */
export const smallDiskCommand = (
  folder: string,
  command: readonly string[],
): [string, ...string[]] => [
  'unshare',
  '--map-root-user',
  '--mount',
  'sh',
  '-c',
  'mount -t tmpfs -o size=2m tmpfs "$0" && exec "$@"',
  folder,
  ...command,
];

/** Runs a command in which the folder is a file system of 2 MB. */
export const onSmallDisk = async (folder: string, command: readonly string[]) => {
  const [program, ...args] = smallDiskCommand(folder, command);
  return run(program, args);
};

/** Whether this user can mount a file system. */
export const mayMount = async (folder: string): Promise<boolean> =>
  onSmallDisk(folder, ['true']).then(
    () => true,
    () => false,
  );

/** Mounts an ext4 of 24 MB at a folder, which becomes full. Returns a function that unmounts it. */
export const mountSmallDisk = async (folder: string): Promise<() => Promise<void>> => {
  const image = `${folder}.image`;
  await run('truncate', ['-s', '24M', image]);
  await run('mkfs.ext4', ['-q', '-m', '0', '-O', '^has_journal', image]);
  await run('mount', ['-o', 'loop', image, folder]);
  return async () => void (await run('umount', ['--lazy', folder]));
};
