import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'tsup';
import { afterAll, beforeAll } from 'vitest';

const run = promisify(execFile);

const fileBeside = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
afterAll(async () => rm(folder, { recursive: true }));

// Another user may not be able to read the sources: the clone can be in a closed folder.
beforeAll(async () => {
  await build({
    config: false,
    silent: true,
    entry: {
      'open-as-nobody': fileBeside('open-as-nobody.ts'),
      'commit-worker': fileBeside('../src/commit-worker.ts'),
    },
    format: ['esm'],
    platform: 'node',
    removeNodeProtocol: false,
    noExternal: [/./],
    outDir: folder,
    esbuildOptions: (esbuild) => {
      esbuild.conditions = ['@plantstore/source'];
    },
  });
  if (process.getuid?.() === 0) await run('chmod', ['-R', 'a+rX', folder]);
});

/** Returns what another process reports that opens a file; as root, it runs as nobody. */
export const openElsewhere = async (path: string): Promise<unknown> => {
  const { stdout } = await run(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    join(folder, 'open-as-nobody.js'),
    path,
  ]);
  return JSON.parse(stdout);
};
