import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** The host as it is built, which is what users start. */
export const bin = join(import.meta.dirname, '../packages/server/dist/bin.js');

/** Builds the packages where the last build no longer fits. */
export const buildIfStale = (): void => {
  execFileSync(process.execPath, ['scripts/build.mjs', '--if-stale'], {
    cwd: join(import.meta.dirname, '..'),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
};
