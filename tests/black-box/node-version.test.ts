import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { bin } from './program.ts';

const run = promisify(execFile);

/** Runs `plantstore --version` on a Node that reports another version, and resolves with standard error. */
const startOn = async (version: string): Promise<string> => {
  const preload = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  const args = ['--import', `data:text/javascript,${preload}`, bin, '--version'];
  return run(process.execPath, args).then(
    () => 'runs',
    (failure: unknown) => (failure as { readonly stderr: string }).stderr,
  );
};

it.each(['22.18.0', '22.19.0', '22.100.1', '23.0.0', '24.0.0', '100.1.0'])(
  'the program runs on Node %s',
  async (version) => {
    expect(await startOn(version)).toBe('runs');
  },
);

it.each(['9.99.0', '18.20.8', '20.19.5', '21.99.9', '22.0.0', '22.2.0', '22.17.9'])(
  'the program names the Node that it needs on Node %s',
  async (version) => {
    expect(await startOn(version)).toContain('plantstore: needs Node 22.18 or newer');
  },
);
