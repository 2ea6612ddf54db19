import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { bin, newFolder } from './program.ts';
import { runCommand } from './run-command.ts';

// More than three chunks of 64 KiB, with ids over the whole range of an int64.
const count = 6_000;
const step = 2n ** 64n / BigInt(count);
const lines = Array.from(
  { length: count },
  (_, index) =>
    `{"id":${-(2n ** 63n) + BigInt(index) * step},"name":"plant ${index} of many","tag":"tag, ${index}"}\n`,
);

/** Imports the plants in another order than that of their ids. */
const importPlants = async (): Promise<string> => {
  const cwd = await newFolder();
  const stdin = lines.toReversed().join('');
  expect((await runCommand(['import'], { cwd, stdin })).status).toBe(0);
  return cwd;
};

describe('an export of several chunks', () => {
  it.each(['ndjson', 'csv'])(
    'an export of several chunks as %s contains each plant once, and imports as it was',
    async (format) => {
      const cwd = await importPlants();
      const exported = await runCommand(['export', '--format', format], { cwd });
      expect([exported.status, exported.stderr]).toEqual([0, `${count} plants exported\n`]);
      if (format === 'ndjson') expect(exported.stdout).toBe(lines.join(''));

      const inOther = { cwd, env: { PLANTSTORE_DATABASE: 'sqlite:other.db' } };
      const imported = await runCommand(['import', '--format', format], {
        ...inOther,
        stdin: exported.stdout,
      });
      expect(imported.stdout).toBe(`${count} plants created, 0 already there, 0 refused\n`);
      expect((await runCommand(['export'], inOther)).stdout).toBe(lines.join(''));
    },
  );

  it('an export whose reader stops in the second chunk exits with status 1', async () => {
    const cwd = await importPlants();
    const args = [bin, 'export', '--database', 'sqlite:plants.db'];
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const closed = once(child, 'close');
    let length = 0;
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      length += chunk.length;
      // Leaving the loop closes the pipe.
      if (length > 2 ** 16 + 1) break;
    }
    expect([(await closed)[0], stderr]).toEqual([
      1,
      expect.stringContaining('cannot write to standard output'),
    ]);
  });
});
