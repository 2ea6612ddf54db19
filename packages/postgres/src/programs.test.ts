import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { emptyDatabase, sharedUrl } from '../test/shared-postgres.ts';

const run = async (program: URL, url: string) =>
  promisify(execFile)(process.execPath, [fileURLToPath(program), url], {
    env: { ...process.env, PLANTS_DATABASE: url },
  });

it('examples/use-postgres.ts stores a plant, and succeeds again for the same plant', async () => {
  const url = sharedUrl(await emptyDatabase());
  for (const _ of ['first', 'again']) {
    const output = await run(new URL('../../../examples/use-postgres.ts', import.meta.url), url);
    expect(output).toEqual({ stdout: 'in the database\n', stderr: '' });
  }
});
