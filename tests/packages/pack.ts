import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder that contains the packed packages. */
    readonly tarballs: string;
  }
}

type Project = { readonly provide: (key: 'tarballs', folder: string) => void };

const exec = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

/** Builds and packs every package as for publishing. */
export const setup = async (project: Project): Promise<() => Promise<void>> => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-tarballs-'));
  await exec(process.execPath, ['scripts/build.mjs'], { cwd: root });
  const pack = ['-r', '--filter', './packages/*', 'pack', '--pack-destination', folder];
  await exec('npx', ['-y', 'pnpm@12', ...pack], { cwd: root });
  project.provide('tarballs', folder);
  return async () => rm(folder, { recursive: true });
};
