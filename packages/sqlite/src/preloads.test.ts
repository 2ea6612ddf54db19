import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { faultyDisk } from '@plantstore/test-support/faulty-disk';
import { expect, it } from 'vitest';
import { makeStore } from '../test/store-file.ts';

const program = fileURLToPath(new URL('../test/create-and-close.ts', import.meta.url));

it('a preloaded module that keeps a timer delays no recovery after a failed sync, no backup and no close', async ({
  skip,
}) => {
  const disk = await faultyDisk(skip);
  makeStore(disk.path);
  // What modules of monitoring do in each thread that they are preloaded into.
  const NODE_OPTIONS = '--import "data:text/javascript,setInterval(()=>{},1000)"';
  const env = { ...process.env, ...disk.env, DISK_FAILS: 'wal 4 4', NODE_OPTIONS };
  const options = { env, timeout: 20_000 };
  const { stdout } = await promisify(execFile)(process.execPath, [program, disk.path], options);
  expect(JSON.parse(stdout)).toEqual(['store-unavailable', 'created', 'created', 'copied']);
});
