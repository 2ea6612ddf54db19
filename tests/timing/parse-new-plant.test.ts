import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { median } from './median.ts';

it('parseNewPlant takes less CPU time than the zod schema', async () => {
  // In a process of its own: modules that the test runner has transformed are slower.
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--conditions=@plantstore/source',
    join(import.meta.dirname, 'validate.ts'),
  ]);
  const { valid, invalid } = JSON.parse(stdout) as { valid: number[]; invalid: number[] };
  const ratios = { valid: median(valid), invalid: median(invalid) };
  console.log(`zod's CPU time over that of parseNewPlant: ${JSON.stringify(ratios)}`);
  expect(ratios.valid).toBeGreaterThan(1.5);
  expect(ratios.invalid).toBeGreaterThan(5);
});
