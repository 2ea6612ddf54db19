import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Makes a command run where the folder is a disk of its own of 2 MB (a mount that only it sees). */
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

/** Runs a command where the folder is a disk of its own of 2 MB. */
export const onSmallDisk = async (folder: string, command: readonly string[]) => {
  const [program, ...args] = smallDiskCommand(folder, command);
  return run(program, args);
};

/** Whether this machine lets its user mount a disk. */
export const mayMount = async (folder: string): Promise<boolean> =>
  onSmallDisk(folder, ['true']).then(
    () => true,
    () => false,
  );
