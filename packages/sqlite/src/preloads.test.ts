import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { faultyDisk } from '@plantstore/test-support/faulty-disk';
import { expect, it } from 'vitest';
import { makeStore } from '../test/store-file.ts';

const program = fileURLToPath(new URL('../test/create-and-close.ts', import.meta.url));
const timeout = 20_000;

// What modules of monitoring do in each thread that they are preloaded into.
it.for([
  ['a timer', 'setInterval(()=>{},1000)'],
  [
    'a listening socket',
    'import(%22node:net%22).then(({createServer})=>createServer().listen(0,%22127.0.0.1%22))',
  ],
])(
  'a preloaded module that keeps %s delays no recovery after a failed sync, no backup and no close',
  async ([, module], { skip }) => {
    const disk = await faultyDisk(skip);
    makeStore(disk.path);
    const NODE_OPTIONS = `--import "data:text/javascript,${module}"`;
    const env = { ...process.env, ...disk.env, DISK_FAILS: 'wal 4 4', NODE_OPTIONS };
    const run = promisify(execFile)(process.execPath, [program, disk.path, '3'], { env, timeout });
    const outcomes = ['store-unavailable', 'created', 'created', 'copied'];
    expect(JSON.parse((await run).stdout)).toEqual(outcomes);
  },
);
