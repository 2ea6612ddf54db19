import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';

const program = fileURLToPath(new URL('../test/on-full-ext4.ts', import.meta.url));

/** Runs the program in namespaces of its own: no mount and no process outlives it. */
const runOnExt4 = async (end: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const node = ['--conditions=@plantstore/source', '--disable-warning=ExperimentalWarning'];
  const command = [...namespaces, process.execPath, ...node, program, folder, end];
  const options = { timeout: 20_000, killSignal: 'SIGKILL' } as const;
  return (await promisify(execFile)('unshare', command, options)).stdout;
};

const mayMountExt4 = async (): Promise<boolean> =>
  runOnExt4('only mount').then(
    () => true,
    () => false,
  );

describe('no acknowledged plant is missing after failed syncs on a real ext4', () => {
  it.for([
    ['kill -9', 'kill'],
    ['closing', 'close'],
  ] as const)('and %s', async ([, end], { skip }) => {
    skip(!(await mayMountExt4()), 'this machine lets its user mount no ext4 image');
    const output = await runOnExt4(end);
    console.log(`ext4, ${end}: ${output}`);
    expect(JSON.parse(output)).toEqual({
      signal: 'SIGKILL',
      acknowledged: expect.any(Number) as unknown,
      fault: 'none',
    });
  });
});
