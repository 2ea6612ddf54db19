import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sample } from '@plantstore/test-support/sample';
import { describe, expect, it, onTestFinished } from 'vitest';

const program = fileURLToPath(new URL('../test/run-on-full-ext4.ts', import.meta.url));

/** Runs the program in separate mount and PID namespaces, which end with it. */
const runOnExt4 = async (end: string, signal: AbortSignal): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const node = ['--disable-warning=ExperimentalWarning'];
  const command = [...namespaces, process.execPath, ...node, program, folder, end];
  const options = { signal, killSignal: 'SIGKILL' } as const;
  return (await promisify(execFile)('unshare', command, options)).stdout;
};

const canMountExt4 = async (signal: AbortSignal): Promise<boolean> =>
  runOnExt4('only mount', signal).then(
    () => true,
    () => false,
  );

describe('failed syncs on ext4', () => {
  it.for(
    sample(
      [
        ['kill -9', 'kill'],
        ['closing', 'close'],
      ] as const,
      2,
    ),
  )(
    'no acknowledged plant is missing after failed syncs on ext4 and %s',
    async ([, end], { signal, skip }) => {
      skip(!(await canMountExt4(signal)), 'this user cannot mount an ext4 image on this machine');
      const output = await runOnExt4(end, signal);
      console.log(`ext4, ${end}: ${output}`);
      expect(JSON.parse(output)).toEqual({
        acknowledged: expect.any(Number) as unknown,
        fault: 'none',
      });
    },
  );
});
