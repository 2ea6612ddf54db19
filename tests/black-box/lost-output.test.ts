import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bin, newFolder, spawnProgram } from './program.ts';
import { runIn } from '../../packages/plantstore/test/run-in-folder.ts';

/** Runs the program in a folder, with a standard output that a shell redirects, or with a pipe without a reader. */
const runWith = async (cwd: string, args: readonly string[], redirection: string) => {
  const program = spawnProgram({
    command: ['sh', '-c', `exec "$@" ${redirection}`, 'sh', process.execPath, bin, ...args],
    env: { PLANTSTORE_DATABASE: 'sqlite:plants.db' },
    cwd,
  });
  // The pipe has no reader, long before the program writes.
  program.process.stdout?.destroy();
  return { status: await program.exited, stderr: program.stderr() };
};

/** In the order in which they can run in one folder. */
const lines = [
  'import in.ndjson',
  'export',
  'backup b.db',
  'restore b.db --database sqlite:new.db',
  '--check-settings',
  '--help',
];

const newStore = async () => {
  const cwd = await newFolder();
  await writeFile(join(cwd, 'in.ndjson'), '{"id":1,"name":"a"}\n');
  return cwd;
};

describe('standard output that is lost', () => {
  const losses = [
    ['a full disk', '>/dev/full', 'no space left on device'],
    ['a pipe without a reader', '', 'broken pipe'],
    // The database could get its descriptor.
    ['a closed descriptor', '>&-', 'it is closed'],
    ['a file that is open for reading only', '1</dev/null', 'bad file descriptor'],
  ] as const;

  it.each(losses)(
    'no command exits with the status 0 after its output was lost in %s, and its work is done',
    async (where, redirection, reason) => {
      const cwd = await newStore();
      // Every command writes to it in the same way.
      for (const line of where === losses[0][0] ? lines : lines.slice(0, 1)) {
        const { status, stderr } = await runWith(cwd, line.split(' '), redirection);
        expect([line, status]).toEqual([line, 1]);
        expect(stderr).toContain(`cannot write to standard output: ${reason}`);
      }
      expect((await runIn(cwd, ['export'])).stdout).toBe('{"id":1,"name":"a"}\n');
    },
  );

  it('a command whose work fails keeps its exit status when its output is lost', async () => {
    const cwd = await newStore();
    await writeFile(join(cwd, 'in.ndjson'), '{}\n');
    expect((await runWith(cwd, ['import', 'in.ndjson'], '>&-')).status).toBe(3);
    expect((await runWith(cwd, ['check', '--port=1'], '>/dev/full')).status).toBe(2);
  });
});

it('a command exits with the status 0 when its output is written to /dev/null', async () => {
  const { status } = await runWith(await newStore(), ['import', 'in.ndjson'], '>/dev/null');
  expect(status).toBe(0);
});
