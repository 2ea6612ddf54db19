import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'tsup';
import { beforeAll } from 'vitest';

const run = promisify(execFile);

const fileBeside = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Returns a function that opens a file in another process, and returns its result. When the tests
 * run as root, the process runs as an unprivileged user.
 */
export const openerInOtherProcess = (): ((path: string) => Promise<unknown>) => {
  let folder = '';
  // Bundles the program, because the unprivileged user may not be able to read the repository.
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
    await build({
      config: false,
      silent: true,
      entry: {
        'open-unprivileged': fileBeside('open-unprivileged.ts'),
        'commit-worker': fileBeside('../src/commit/commit-worker.ts'),
      },
      format: ['esm'],
      // The sources name their workers so.
      outExtension: () => ({ js: '.ts' }),
      platform: 'node',
      removeNodeProtocol: false,
      noExternal: [/./],
      outDir: folder,
      esbuildOptions: (esbuild) => {
        esbuild.conditions = ['@plantstore/source'];
      },
    });
    if (process.getuid?.() === 0) await run('chmod', ['-R', 'a+rX', folder]);
    return async () => rm(folder, { recursive: true });
  });
  return async (path) => {
    const { stdout } = await run(process.execPath, [
      '--disable-warning=ExperimentalWarning',
      join(folder, 'open-unprivileged.ts'),
      path,
    ]);
    return JSON.parse(stdout) as unknown;
  };
};
