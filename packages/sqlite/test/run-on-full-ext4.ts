// Runs create-on-full-ext4.ts on a loop-mounted ext4, remounts it to drop the page cache, and prints whether
// acknowledged plants are missing. Must run in a separate mount namespace, whose end unmounts the file systems.
// Prints "mounted" first. Arguments: folder to mount in, and "close" or "kill".
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { faultIn } from './surviving-states.ts';

const [folder = '', end = ''] = process.argv.slice(2);
const image = join(folder, 'image');
const disk = join(folder, 'disk');
const ballast = join(folder, 'ballast');

const run = (command: string, ...args: readonly string[]) => execFileSync(command, args);

/** Mounts the image. Each write is of one block: the kernel reports a larger one as done if a part of it was. */
const mountDisk = () => {
  const loop = run('losetup', '--find', '--show', image).toString().trim();
  writeFileSync(`/sys/block/${basename(loop)}/queue/max_sectors_kb`, '4');
  run('mount', loop, disk);
  // The file system keeps it until its end.
  run('losetup', '--detach', loop);
};

run('mount', '-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', folder);
run('fallocate', '-l', '16M', image);
run('mkfs.ext4', '-q', '-b', '4096', '-E', 'nodiscard', image);
mkdirSync(disk);
mountDisk();
console.log('mounted');

const program = fileURLToPath(new URL('create-on-full-ext4.ts', import.meta.url));
const args = [...process.execArgv, program, disk, ballast, end];
const { signal, status, error, stdout } = spawnSync(process.execPath, args, {
  stdio: ['ignore', 'pipe', 'inherit'],
  encoding: 'utf8',
});
if (signal !== 'SIGKILL') throw error ?? new Error(`the program ended with status ${status}`);
run('umount', disk);
mountDisk();
const acknowledged = JSON.parse(stdout) as number[];
const fault = faultIn(join(disk, 'plants.db'), acknowledged) ?? 'none';
console.log(JSON.stringify({ acknowledged: acknowledged.length, fault }));
run('umount', disk);
