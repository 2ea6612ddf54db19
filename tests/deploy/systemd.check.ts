import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

const root = fileURLToPath(new URL('../../', import.meta.url));
const unit = join(root, 'deploy/systemd/plantstore.service');

it("the systemd unit's exposure is the one that the page names, and below 2", async () => {
  const { stdout } = await run('systemd-analyze', ['security', '--offline=true', unit]);
  const [, exposure] =
    /Overall exposure level for plantstore\.service: ([\d.]+)/.exec(stdout) ?? [];
  expect(Number(exposure)).toBeLessThan(2);
  const page = await readFile(join(root, 'docs/operating.md'), 'utf8');
  expect(/exposure level of the unit: ([\d.]+)/.exec(page)?.[1]).toBe(exposure);
});
