import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { firstOrAll } from '@plantstore/test-support/sample';
import { describe, expect, it } from 'vitest';

const program = fileURLToPath(new URL('../test/run-on-full-ext4.ts', import.meta.url));

/** Runs the program in separate mount and PID namespaces, which end with it. Returns its lines, none if it cannot mount. */
const runOnExt4 = async (end: string, signal: AbortSignal): Promise<string[]> => {
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const node = ['--disable-warning=ExperimentalWarning'];
  const folder = await makeFolder();
  const command = [...namespaces, process.execPath, ...node, program, folder, end];
  const options = { signal, killSignal: 'SIGKILL' } as const;
  try {
    return (await promisify(execFile)('unshare', command, options)).stdout.split('\n');
  } catch (thrown) {
    if ((thrown as { stdout?: string }).stdout === '') return [];
    throw thrown;
  }
};

describe('failed syncs on ext4', () => {
  it.for(
    firstOrAll([
      ['closing', 'close'],
      ['kill -9', 'kill'],
    ] as const),
  )(
    'no acknowledged plant is missing after failed syncs on ext4 and %s',
    async ([, end], { signal, skip }) => {
      const [mounted, output = ''] = await runOnExt4(end, signal);
      skip(mounted === undefined, 'this user cannot mount an ext4 image on this machine');
      console.log(`ext4, ${end}: ${output}`);
      expect(JSON.parse(output)).toEqual({
        acknowledged: expect.any(Number) as unknown,
        fault: 'none',
      });
    },
  );
});
