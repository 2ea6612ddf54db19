import { statfs } from 'node:fs/promises';
import { cpus, release, tmpdir, totalmem, type } from 'node:os';
import { canPin } from './child.ts';
import type { Machine } from './results.ts';

const tmpfs = 0x01_02_19_94;

/** What this machine is. */
export const thisMachine = async (): Promise<Machine> => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  os: `${type()} ${release()}`,
  node: process.version,
  isPinned: canPin,
  storesOn: (await statfs(tmpdir())).type === tmpfs ? 'memory' : 'disk',
});
