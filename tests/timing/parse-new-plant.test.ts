import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { median } from './median.ts';

it('parseNewPlant takes at most twice the CPU time of decodeBody, and 20 times that for a plant with faults', async () => {
  // In a process of its own: modules that the test runner has transformed are slower.
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--conditions=@plantstore/source',
    join(import.meta.dirname, 'validate.ts'),
  ]);
  const { valid, invalid } = JSON.parse(stdout) as { valid: number[]; invalid: number[] };
  const ratios = { valid: median(valid), invalid: median(invalid) };
  console.log(`CPU time of parseNewPlant over that of decodeBody: ${JSON.stringify(ratios)}`);
  expect(ratios.valid).toBeLessThan(2);
  expect(ratios.invalid).toBeLessThan(20);
});
