import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

describe('modules that are reached at run time', () => {
  it.each([
    ['client/src/index.ts', /^node:|^zod/],
    ['core/src/errors.ts', /^node:|^zod/],
    ['core/src/group-commit.ts', /^node:|^zod/],
    ['core/src/wire.ts', /^node:|^zod/],
    // It runs on every runtime.
    ['server/src/fetch.ts', /^node:/],
    // A command needs no HTTP.
    ['plantstore/src/commands/run-command.ts', /\/serve\//],
  ])('the modules that are reached at run time from %s exclude %s', async (file, pattern) => {
    expect((await reachableFrom(file)).filter((one) => pattern.test(one))).toEqual([]);
  });

  it('the modules that are reached at run time include zod and Node modules for the entry points that use them', async () => {
    expect(await reachableFrom('server/src/index.ts')).toContain('node:net');
    expect(await reachableFrom('server/src/fetch.ts')).toContain('zod');
    expect(await reachableFrom('plantstore/src/main.ts')).toContain(
      'plantstore/src/serve/program.ts',
    );
  });
});

/** Returns the files and modules that a file imports, dynamically, too, also through other packages of the workspace. */
async function reachableFrom(file: string): Promise<readonly string[]> {
  const { metafile } = await build({
    absWorkingDir: fileURLToPath(new URL('../../packages/', import.meta.url)),
    entryPoints: [file],
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    outdir: 'out',
    conditions: ['@plantstore/source'],
    external: [
      'csv-parse',
      'neverthrow',
      'pg',
      'pg-connection-string',
      'pgpass',
      'prom-client',
      'zod',
    ],
  });
  const { inputs } = metafile;
  return [
    ...Object.keys(inputs),
    ...Object.values(inputs).flatMap(({ imports }) => imports.map(({ path }) => path)),
  ];
}
