import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { mayMount, onSmallDisk } from '@plantstore/test-support/small-disk';
import { runsAll } from '@plantstore/test-support/sample';
import { expect, it } from 'vitest';

const run = promisify(execFile);

it('the results of creates agree with a Map while faults occur between and during them', async () => {
  const folder = await makeFolder();
  const isSmall = await mayMount(folder);
  const program = [
    '--disable-warning=ExperimentalWarning',
    fileURLToPath(new URL('../test/create-with-faults.ts', import.meta.url)),
    folder,
    isSmall ? 'small' : 'any',
  ];
  const { stdout } = await (isSmall
    ? onSmallDisk(folder, [process.execPath, ...program])
    : run(process.execPath, program));
  console.log(`faults${isSmall ? ', with a full disk' : ''}: ${stdout}`);
  const counts = JSON.parse(stdout) as Record<string, number>;
  // A sample is random, and may miss one.
  expect(Math.min(...Object.values(counts))).toBeGreaterThanOrEqual(runsAll ? 50 : 0);
});
